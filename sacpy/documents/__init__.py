"""What can be read about SaC: of the library (`library`, whose examples `examples` runs), of messages and words
(`pages`); `manual` answers `sacpy doc`."""
