"""Which commands are legal: listed by generated joins, kept up to date, asked for one object."""
