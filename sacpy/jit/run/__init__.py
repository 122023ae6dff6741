"""Who decides while a program runs: functions of core in, functions out that calls go to instead. `engine` decides,
`dispatch` and `turns` are where code is entered natively, `compiler` and `device_compiler` make it."""
