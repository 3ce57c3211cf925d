#!/usr/bin/env bash
# Figures that are good enough meet all goals; each that is not misses its own.
set -euo pipefail
goals=search_goals.py
. bench/expect_missed.sh

cat >tables.txt <<'END'
| model | before | after | faster | wall | cpu | expand | products | left | MB |
|---|---|---|---|---|---|---|---|---|---|
| nasrnn_fp32_b1_script | 500 | 50 | 10.00x | 1 | 0.5 | 178 | 80 | 6 | 60 |
| nasrnn_fp16_b1_dynamo | 250 | 25 | 10.00x | 1 | 0.5 | 133 | 80 | 5 | 47 |
| lora_mlp_fp16_b1_dynamo | 48 | 18 | 2.67x | 1 | 1 | 12 | 12 | 4 | 129 |
| repvgg_a0_fp16_b1_dynamo | 245 | 160 | 1.53x | 1 | 1 | 146 | 45 | 23 | 68 |
| repvgg_a0_fp32_b1_script | 568 | 443 | 1.28x | 1 | 1 | 138 | 45 | 23 | 83 |
| llama_prefill_fp16_b1_dynamo | 416 | 409 | 1.02x | 5 | 5 | 39 | 9 | 6 | 342 |
END
for i in {1..20}; do
  echo "| model$i | 10 | 10 | 1.00x | 1 | 1 | 5 | 3 | 3 | 20 |" >>tables.txt
done
cat >>tables.txt <<'END'

| model on cpu | before | after | faster | wall | cpu | expand | products | left | MB |
|---|---|---|---|---|---|---|---|---|---|
| llama_prefill_fp16_b1_dynamo | 999 | 998 | 1.00x | 5 | 5 | 43 | 9 | 9 | 342 |

| TASO's graphs | before | after | faster | wall | cpu | expand |
|---|---|---|---|---|---|---|
| BERT-8, TASO's search | 314.8 | 194.0 | 1.62x | 0.4 | 0.3 | 100 |
| BERT-8, Isomer | 314.8 | 194.0 | 1.62x | 0.02 | 0.02 | 29 |
| ResNeXt-50, TASO's search | 664.4 | 664.4 | 1.00x | 4 | 4 | 100 |
| ResNeXt-50, Isomer | 664.4 | 661.5 | 1.00x | 0.01 | 0.01 | 40 |
| NasNet-A, TASO's search | 1762.4 | 1762.4 | 1.00x | 7 | 7 | 100 |
| NasNet-A, Isomer | 1762.4 | 1551.6 | 1.14x | 0.5 | 0.5 | 481 |
| Inception-v3, TASO's search | 1410.2 | 1410.2 | 1.00x | 31 | 31 | 100 |
| Inception-v3, Isomer | 1410.2 | 1273.8 | 1.11x | 0.2 | 0.2 | 213 |

| growth | before | after | faster | wall | cpu | expand |
|---|---|---|---|---|---|---|
| 12 layers, 1 threads | 985.8 | 888.9 | 1.11x | 0.07 | 0.07 | 96 |
| 24 layers, 1 threads | 1971.6 | 1777.9 | 1.11x | 0.1 | 0.1 | 96 |
| NasNet-A, plain, 1 threads | 1762.4 | 1688.9 | 1.04x | 1.2 | 1.2 | 61 |
| NasNet-A, plain, 2 threads | 1762.4 | 1688.9 | 1.04x | 0.7 | 1.2 | 61 |

| an expansion | expand | cpu ms | KB |
|---|---|---|---|
| 12 layers | 617 | 0.42 | 4.1 |
| 48 layers | 2489 | 0.42 | 2.1 |

| certificate | wall | cpu | check wall | check cpu |
|---|---|---|---|---|
| resnet50_fp32_b1_script | 0.8 | 0.7 | 17 | 17 |

| all graphs over | nodes | graphs | reached | worse |
|---|---|---|---|---|
| relu($0); mul($0, $1); matmul($0, w0) | 6 | 40426 | 180073 | 0 |
END
all_met

missed "$rows" 'no figures' head -n 0
missed 2 '^| all 26 models' sed '/^| model20/d'
missed 1 '^| all 26 models' sed '/^| model20/s/| 20 |$/| 500 |/'
missed 1 'slower | model20' sed '/^| model20/s/10 | 10/10 | 11/'
missed 1 '^| nasrnn_fp32' sed '/^| nasrnn_fp32/s/80 | 6/80 | 7/'
missed 1 '^| lora_mlp' sed '/^| lora_mlp/s/12 | 4/12 | 5/'
missed 1 '^| repvgg_a0_fp16' sed '/^| repvgg_a0_fp16/s/45 | 23/45 | 24/'
missed 1 '^| llama' sed '/^| llama/s/9 | 9/9 | 6/'
missed 1 '^| BERT-8' sed '/^| BERT-8, I/s/194.0/194.1/'
missed 1 '^| ResNeXt-50' sed '/^| ResNeXt-50, I/s/661.5/664.4/'
missed 1 '^| NasNet-A' sed '/^| NasNet-A, I/s/| 0.5 | 0.5/| 0.5 | 0.8/'
missed 1 'stopped after 3' sed "/^| Inception-v3, T/s/100 |\$/3 |/"
missed 1 '^| 24 layers' sed '/^| 24 layers/s/| 0.1 | 0.1/| 0.1 | 0.2/'
missed 1 'cpu ms' sed '/^| 48 layers/s/0.42/0.84/'
missed 1 'KB' sed '/^| 48 layers/s/2.1/8.2/'
missed 1 'two threads' sed '/^| NasNet-A, plain, 2/s/0.7/0.8/'
missed 1 'busy' sed '/^| NasNet-A, plain, 1/s/1.2 |/2.4 |/'
missed 1 '^| small graphs' sed '/^| relu/s/| 0 |$/| 1 |/'
missed 1 '^| small graphs' sed '/^| relu/s/| 6 |/| 5 |/'
missed 1 '^| ResNet-50' sed '/^| resnet50/s/| 17 |$/| 30 |/'
echo "all right"
