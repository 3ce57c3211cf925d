#!/usr/bin/env bash
# Figures that are good enough meet all goals; each that is not misses its own.
set -euo pipefail
goals=h200_goals.py
. bench/expect_missed.sh

# row NETWORK BATCH FASTER SEARCH
row() { echo "| $1 | $2 | 0.4 | 0.1 | - | 0.03 | 0.01 | $3x | $4x | 12.3 | 14.9 | 3.0e-04 | 1.0e-03 |"; }
cat >tables.txt <<'END'
Figures of a day, with

| network | batch | eager | compile | autotune | planner | isomer | best/isomer | search | torch s | search s | error | eager's |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
END
for name in nasrnn lora_mlp repvgg_a0; do
  row $name 1 2.00 1.50
  row $name 16 1.50 1.00
done >>tables.txt
for name in bert_base squeezenet1_1 inception_v3 resnext50_32x4d resnet50 \
  vit_b_16 densenet121 mobilenet_v2; do
  row $name 1 1.64 1.00
  row $name 16 1.10 1.00
done >>tables.txt
{
  row llama_decode 1 1.80 1.10
  row llama_decode 16 2.30 1.10
  for batch in 1 16; do
    row vgg19 $batch 1.00 1.00
    row llama_prefill $batch 1.00 1.00
  done
} >>tables.txt
cat >>tables.txt <<'END'

| network | batch | other |
|---|---|---|
| nasrnn | 1 | 7 |
END
all_met

missed "$rows" 'no figures' head -n 0
missed 1 '^| nasrnn at batch 1 ' sed '/^| nasrnn | 1 /s/2.00x/1.99x/'
missed 1 '^| repvgg_a0 at batch 16 ' sed '/^| repvgg_a0 | 16 /s/1.50x/1.49x/'
missed 1 '^| resnet50 at batch 16 ' sed '/^| resnet50 | 16 /s/1.10x/1.09x/'
missed 1 '^| vgg19 at batch 16 ' sed '/^| vgg19 | 16 /s/1.00x/0.99x/'
missed 2 '^| geometric mean at batch 1 ' sed '/^| bert_base | 1 /s/1.64x/1.29x/'
missed 2 '^| geometric mean at batch 16 ' sed '/^| llama_decode | 16 /s/2.30x/1.09x/'
missed 1 'lora_mlp, what the search brings' sed '/^| lora_mlp | 1 /s/1.50x/1.49x/'
missed 1 '0.99x at least (vit_b_16 at batch 1)' \
  sed '/^| vit_b_16 | 1 /s/1.00x/0.99x/'
missed 1 '15.0 s at most (vgg19 at batch 1)' \
  sed '/^| vgg19 | 1 /s/14.9/15.0/'
# A network that is not there misses its own figure, and all that are of all.
missed 4 '^| resnet50 at batch 16 .*no figures' sed '/^| resnet50 | 16 /d'
echo "all right"
