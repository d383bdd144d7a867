"""The WSGI application that gunicorn serves."""
# mypy: disable-error-code="import-not-found"
# Django is installed into a separate environment.

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
