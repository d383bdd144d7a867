"""A minimal Django project with django-allauth's sign-in by emailed code, for `bench.signin`."""
