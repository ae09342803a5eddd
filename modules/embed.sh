#!/bin/sh
# Writes the descriptions in a folder, modules/tables, as rows of an array of C: {name, text}, for modules/module_texts.c.
set -e
LC_ALL=C
export LC_ALL
for table in "$1"/*.conf; do
	echo "{\"$(basename "$table" .conf)\","
	sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' "$table"
	echo '},'
done
