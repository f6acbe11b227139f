module searchlight

go 1.19
