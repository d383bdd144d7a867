"""Signing in: email addresses, codes, links, tokens and emails."""
