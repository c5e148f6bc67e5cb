"""ministack, with corrections where it differs from AWS, and with services that it lacks."""
