"""The only URL of the project: allauth's API for apps."""
# mypy: disable-error-code="import-not-found"
# Django is installed into a separate environment.

from django.urls import include, path

urlpatterns = [path("_allauth/", include("allauth.headless.urls"))]
