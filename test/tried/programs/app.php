<?php
// An answer in two halves, with 2 s between them.
while (ob_get_level()) ob_end_flush();
echo "first half\n";
flush();
// A signal ends sleep() early.
$end = microtime(true) + 2;
while (microtime(true) < $end) usleep(20000);
echo "second half\n";
