#!/usr/bin/env bash
# Figures that are good enough meet all goals; each that is not misses its own.
set -euo pipefail
goals=gen_goals.py
. bench/expect_missed.sh

cat >tables.txt <<'END'
| preset | d | outputs | t | graphs | prints | classes | confirmed | rules | wall_s | cpu_s | MB |
|---|---|---|---|---|---|---|---|---|---|---|---|
| taso-full | 3 | any set | 1 | 691666 | 1289540 | 262801 | 35527 | 4828 | 1.00 | 1.00 | 90 |
| taso-full | 3 | any set | 2 | 691666 | 1289540 | 262801 | 35527 | 4828 | 0.58 | 1.10 | 96 |
| taso-2d-small | 4 | any set | 1 | 3279222 | 12490190 | 1535563 | 441686 | 31982 | 4.70 | 4.70 | 229 |
| taso-2d-small | 4 | any set | 2 | 3279222 | 12490190 | 1535563 | 441686 | 31982 | 2.70 | 5.10 | 260 |
| taso-full | 4 | connected | 1 | 7330516 | 42778210 | 6243288 | 2137617 | 223666 | 36.0 | 36.0 | 1280 |
| taso-full | 4 | any set | 1 | 58102408 | 165315795 | 27357940 | 3229798 | 232127 | 71.0 | 71.0 | 1530 |
| taso-full | 4 | any set | 2 | 58102408 | 165315795 | 27357940 | 3229798 | 232127 | 41.0 | 75.0 | 1600 |
| taso-full | 5 | connected | 2 | 500000000 | 3000000000 | 400000000 | 9 | 9 | 3500 | 6900 | 18000 |
in 9 passes

| file | d | candidates | generalised | final | enumerate_s | generalise_s | minimise_s | wall_s | cpu_s | end |
|---|---|---|---|---|---|---|---|---|---|---|
| taso-full | 3 | 4828 | 214 | 151 | 0.6 | 20.0 | 9.0 | 30.0 | 50.0 | complete |
| default | 3 | 10109 | 506 | 322 | 3.0 | 60.0 | 17.0 | 80.0 | 130.0 | complete |
| taso-full | 4 | 232127 | 900 | 700 | 45.0 | 600.0 | 200.0 | 845.0 | 1600.0 | complete |

| covers | rules | covered | false | ill_formed | missing |
|---|---|---|---|---|---|
| taso_shipped_133 | 133 | 129 | 4 | 0 | 0 |
END
all_met

# Depth 5 and other people's rules may be left out.
missed $((rows - 2)) 'no figures' head -n 0
missed 1 '| 1.02 s,' sed '/| 3 | any set | 1 |/s/1.00 | 90/1.02 | 90/'
missed 1 '0.16 GB' sed '/| 3 | any set | 1 |/s/1.00 | 90/1.00 | 160/'
missed 1 '^| taso-2d-small' sed '/small.* | 1 |/s/4.70 | 229/5.50 | 229/'
missed 1 'connected' sed '/| 4 | connected/s/36.0 | 1280/36.0 | 1600/'
missed 1 '1.67 times' sed '/| 3 | any set | 2 |/s/0.58/0.60/'
missed 1 'busy' sed '/| 3 | any set | 1 |/s/1.00 | 1.00/1.30 | 1.00/'
missed 1 'stopped after 3500' sed 's/^in 9 passes/stopped (memory)/'
missed 1 'ended after 3601' sed 's/| 3500 /| 3601 /'
missed 1 '| 30 s |' sed '/| taso-full | 3 | 4828 | 214/s/| 9.0/| 10.0/'
missed 1 'stopped (time)' sed '/^| taso-full | 4 | 232127/s/complete/time/'
missed 1 '^| default' sed '/^| default/s/| 80.0/| 600.0/'
missed 1 '3 missing' sed '/^| taso_shipped/s/| 0 |$/| 3 |/'
echo "all right"
