<?php
// An answer in two halves, with 2 s between them.
while (ob_get_level()) ob_end_flush();
echo "first half\n";
flush();
sleep(2);
echo "second half\n";
