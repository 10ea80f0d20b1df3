module wqc.wrapper

go 1.26.0
