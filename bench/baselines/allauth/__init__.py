"""A minimal Django project that signs in by e-mailed code with django-allauth, for `bench.signin` to measure."""
