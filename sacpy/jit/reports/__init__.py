"""What users are told of compiling: an engine in; tables (`statistics`), stages as text (`stages`) and layouts on a
device (`mapping_report`) out."""
