"""The screens of `tw play`, and the mixins that they are made of."""
