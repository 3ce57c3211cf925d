profile h200
conv add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)) a:f16[1,160,7,7] b:f16[1,960,7,7] c:f16[160,960,1,1]* d:f16[1,160,7,7]* | 2.312 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)) a:f16[1,24,56,56] b:f16[1,144,56,56] c:f16[24,144,1,1]* d:f16[1,24,56,56]* | 2.2528 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)) a:f16[1,32,28,28] b:f16[1,192,28,28] c:f16[32,192,1,1]* d:f16[1,32,28,28]* | 1.6976 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)) a:f16[1,64,14,14] b:f16[1,384,14,14] c:f16[64,384,1,1]* d:f16[1,64,14,14]* | 1.832 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)) a:f16[1,96,14,14] b:f16[1,576,14,14] c:f16[96,576,1,1]* d:f16[1,96,14,14]* | 2.272 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d)) a:f16[1,1280,7,7] b:f16[1,192,14,14] c:f16[1280,192,1,1]* d:f16[1,1280,7,7]* | 1.968 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d) a:f16[1,1024,7,7] b:f16[2048,1024,1,1]* c:f16[1,2048,7,7]* d:f16[1,2048,7,7] | 5.3248 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d) a:f16[1,512,7,7] b:f16[2048,512,1,1]* c:f16[1,2048,7,7]* d:f16[1,2048,7,7] | 3.6288 2026-11-15 isomer 32x64 k32 1x2x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,1024,7,7] b:f16[2048,1024,1,1]* c:f16[1,2048,7,7]* | 5.424 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,128,28,28] b:f16[512,128,1,1]* c:f16[1,512,28,28]* | 3.3936 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,128,56,56] b:f16[256,128,1,1]* c:f16[1,256,56,56]* | 4.8304 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,144,28,28] b:f16[32,144,1,1]* c:f16[1,32,28,28]* | 1.6816 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,192,14,14] b:f16[64,192,1,1]* c:f16[1,64,14,14]* | 1.6288 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,2048,8,8] b:f16[1152,2048,1,1]* c:f16[1,1152,8,8]* | 6.8704 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,256,14,14] b:f16[1024,256,1,1]* c:f16[1,1024,14,14]* | 3.256 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,256,28,28] b:f16[512,256,1,1]* c:f16[1,512,28,28]* | 4.0416 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,32,112,112] b:f16[16,32,1,1]* c:f16[1,16,112,112]* | 3.2448 2026-11-15 isomer 128x64 k32 4x2x1 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,320,7,7] b:f16[1280,320,1,1]* c:f16[1,1280,7,7]* | 2.3408 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,384,14,14] b:f16[96,384,1,1]* c:f16[1,96,14,14]* | 1.8976 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,512,14,14] b:f16[1024,512,1,1]* c:f16[1,1024,14,14]* | 4.216 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,512,7,7] b:f16[2048,512,1,1]* c:f16[1,2048,7,7]* | 3.5568 2026-11-15 isomer 32x64 k32 1x2x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,576,7,7] b:f16[160,576,1,1]* c:f16[1,160,7,7]* | 2.0832 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,64,56,56] b:f16[256,64,1,1]* c:f16[1,256,56,56]* | 4.1168 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,96,56,56] b:f16[24,96,1,1]* c:f16[1,24,56,56]* | 1.928 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,960,7,7] b:f16[320,960,1,1]* c:f16[1,320,7,7]* | 2.4352 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,192,14,14] b:f16[192,192,3,3]* c:f16[1,192,14,14]* | 4.536 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,48,56,56] b:f16[48,48,3,3]* c:f16[1,48,56,56]* | 4.0768 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,96,28,28] b:f16[96,96,3,3]* c:f16[1,96,28,28]* | 3.8016 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),c) a:f16[1,96,28,28] b:f16[192,96,1,1]* c:f16[1,192,14,14]* | 1.5792 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,192,14,14] b:f16[1280,192,3,3]* c:f16[1,1280,7,7]* | 6.3968 2026-11-15 isomer 64x32 k32 2x1x4 s4 z2
conv add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,48,112,112] b:f16[48,48,3,3]* c:f16[1,48,56,56]* | 4.056 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,48,56,56] b:f16[96,48,3,3]* c:f16[1,96,28,28]* | 2.6416 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c) a:f16[1,8,224,224] b:f16[48,8,3,3]* c:f16[1,48,112,112]* | 4.6944 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,16,112,112] b:f16[96,16,1,1]* c:f16[1,96,112,112]* | 5.3008 2026-11-15 isomer 128x64 k32 4x2x1 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,160,7,7] b:f16[960,160,1,1]* c:f16[1,960,7,7]* | 1.9536 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,24,56,56] b:f16[144,24,1,1]* c:f16[1,144,56,56]* | 4.6864 2026-11-15 isomer 128x64 k32 4x2x1 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,32,28,28] b:f16[192,32,1,1]* c:f16[1,192,28,28]* | 2.7168 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,64,14,14] b:f16[384,64,1,1]* c:f16[1,384,14,14]* | 2.048 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,96,14,14] b:f16[576,96,1,1]* c:f16[1,576,14,14]* | 2.192 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv clip(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=144),c),min=0, max=6) a:f16[1,144,56,56] b:f16[144,1,3,3]* c:f16[1,144,56,56]* | 5.256 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=192),c),min=0, max=6) a:f16[1,192,28,28] b:f16[192,1,3,3]* c:f16[1,192,28,28]* | 3.7232 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=32),c),min=0, max=6) a:f16[1,32,112,112] b:f16[32,1,3,3]* c:f16[1,32,112,112]* | 3.376 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=384),c),min=0, max=6) a:f16[1,384,14,14] b:f16[384,1,3,3]* c:f16[1,384,14,14]* | 3.2256 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=576),c),min=0, max=6) a:f16[1,576,14,14] b:f16[576,1,3,3]* c:f16[1,576,14,14]* | 3.3488 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=960),c),min=0, max=6) a:f16[1,960,7,7] b:f16[960,1,3,3]* c:f16[1,960,7,7]* | 3.3936 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c),min=0, max=6) a:f16[1,8,224,224] b:f16[32,8,3,3]* c:f16[1,32,112,112]* | 3.3552 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv clip(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=144),c),min=0, max=6) a:f16[1,144,56,56] b:f16[144,1,3,3]* c:f16[1,144,28,28]* | 3.2496 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=192),c),min=0, max=6) a:f16[1,192,28,28] b:f16[192,1,3,3]* c:f16[1,192,14,14]* | 3.1664 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=576),c),min=0, max=6) a:f16[1,576,14,14] b:f16[576,1,3,3]* c:f16[1,576,7,7]* | 3.1456 2026-11-15 isomer depthwise
conv clip(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=96),c),min=0, max=6) a:f16[1,96,112,112] b:f16[96,1,3,3]* c:f16[1,96,56,56]* | 3.7232 2026-11-15 isomer depthwise
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,1024,7,7] b:f16[2048,1024,1,1]* | 3.7744 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,128,28,28] b:f16[512,128,1,1]* | 2.6112 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,1280,8,8] b:f16[1152,1280,1,1]* | 3.9536 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,192,35,35] b:f16[176,192,1,1]* | 2.5776 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,256,14,14] b:f16[1024,256,1,1]* | 2.7488 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,256,28,28] b:f16[512,256,1,1]* | 2.8736 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,256,35,35] b:f16[176,256,1,1]* | 2.7088 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,288,35,35] b:f16[176,288,1,1]* | 2.832 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,512,13,13] b:f16[1000,512,1,1]* | 3.0896 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,512,14,14] b:f16[1024,512,1,1]* | 3.1856 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,768,17,17] b:f16[384,768,1,1]* | 3.32 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,768,17,17] b:f16[448,768,1,1]* | 3.4144 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,768,17,17] b:f16[512,768,1,1]* | 3.4512 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,768,17,17] b:f16[576,768,1,1]* | 3.4432 2026-11-15 isomer library
conv conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,80,73,73] b:f16[192,80,3,3]* | 14.5008 2026-11-15 isomer 64x64 k32 2x2x4 s3 z1
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,128,112,112] b:f16[128,128,3,3]* | 23.4208 2026-11-15 isomer 128x64 k32 4x2x1 s4 z2
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,16,55,55] b:f16[128,16,3,3]* | 3.344 2026-11-15 isomer 64x128 k32 2x4x1 s4 z1
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,256,56,56] b:f16[256,256,3,3]* | 26.0304 2026-11-15 isomer 64x64 k32 2x2x2 s4 z2
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,32,147,147] b:f16[64,32,3,3]* | 8.6752 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,32,27,27] b:f16[256,32,3,3]* | 3.3008 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,512,14,14] b:f16[512,512,3,3]* | 14.1472 2026-11-15 isomer 32x64 k32 1x2x8 s3 z2
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,512,28,28] b:f16[512,512,3,3]* | 29.696 2026-11-15 isomer 64x64 k32 2x2x4 s3 z1
conv conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1) a:f16[1,64,224,224] b:f16[64,64,3,3]* | 25.9264 2026-11-15 isomer 128x64 k32 4x2x1 s4 z1
conv conv2d(a,b,stride=[1 1], pad=[1 2 1 2], dilation=[1 1], group=1) a:f16[1,384,8,8] b:f16[768,384,3,5]* | 11.7312 2026-11-15 isomer 64x64 k32 2x2x4 s3 z8
conv conv2d(a,b,stride=[16 16], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,8,224,224] b:f16[768,8,16,16]* | 9.3648 2026-11-15 isomer 64x32 k32 2x1x8 s3 z1
conv conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,1024,14,14] b:f16[2048,1024,1,1]* | 5.2304 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1) a:f16[1,8,224,224] b:f16[64,8,3,3]* | 3.6656 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv conv2d(a,b,stride=[2 2], pad=[3 3 3 3], dilation=[1 1], group=1) a:f16[1,8,224,224] b:f16[64,8,7,7]* | 8.0528 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,256,56,56] b:f16[1,64,56,56] c:f16[256,64,1,1]* d:f16[1,256,56,56]* | 4.2672 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,1024,14,14] b:f16[1,512,28,28] c:f16[1024,512,1,1]* d:f16[1,1024,14,14]* | 4.248 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,2048,7,7] b:f16[1,1024,14,14] c:f16[2048,1024,1,1]* d:f16[1,2048,7,7]* | 5.2032 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,48,112,112] b:f16[1,8,224,224] c:f16[48,8,1,1]* d:f16[1,48,112,112]* | 4.8464 2026-11-15 isomer 128x64 k32 4x2x1 s4 z1
conv relu(add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,48,56,56] b:f16[1,48,112,112] c:f16[48,48,1,1]* d:f16[1,48,56,56]* | 2.6896 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,512,28,28] b:f16[1,256,56,56] c:f16[512,256,1,1]* d:f16[1,512,28,28]* | 4.2704 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(a,add(conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),d))) a:f16[1,96,28,28] b:f16[1,48,56,56] c:f16[96,48,1,1]* d:f16[1,96,28,28]* | 2.1872 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(add(add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)),e)) a:f16[1,192,14,14] b:f16[1,192,14,14] c:f16[192,192,1,1]* d:f16[1,192,14,14]* e:f16[1,192,14,14] | 1.8464 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)),e)) a:f16[1,48,56,56] b:f16[1,48,56,56] c:f16[48,48,1,1]* d:f16[1,48,56,56]* e:f16[1,48,56,56] | 2.648 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(add(add(a,add(conv2d(b,c,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),d)),e)) a:f16[1,96,28,28] b:f16[1,96,28,28] c:f16[96,96,1,1]* d:f16[1,96,28,28]* e:f16[1,96,28,28] | 2.04 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(add(a,conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1)),d)) a:f16[1,1024,14,14] b:f16[1,512,28,28] c:f16[1024,512,1,1]* d:f16[1,1024,14,14]* | 4.2608 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(add(a,conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1)),d)) a:f16[1,2048,7,7] b:f16[1,1024,14,14] c:f16[2048,1024,1,1]* d:f16[1,2048,7,7]* | 5.3136 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(add(a,conv2d(b,c,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1)),d)) a:f16[1,512,28,28] b:f16[1,256,56,56] c:f16[512,256,1,1]* d:f16[1,512,28,28]* | 4.2592 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,1024,7,7] b:f16[2048,1024,1,1]* c:f16[1,2048,7,7]* d:f16[1,2048,7,7] | 5.2256 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,128,28,28] b:f16[512,128,1,1]* c:f16[1,512,28,28]* d:f16[1,512,28,28] | 3.5728 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,128,56,56] b:f16[256,128,1,1]* c:f16[1,256,56,56]* d:f16[1,256,56,56] | 4.8848 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,256,14,14] b:f16[1024,256,1,1]* c:f16[1,1024,14,14]* d:f16[1,1024,14,14] | 3.1936 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,256,28,28] b:f16[512,256,1,1]* c:f16[1,512,28,28]* d:f16[1,512,28,28] | 4.2512 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,512,14,14] b:f16[1024,512,1,1]* c:f16[1,1024,14,14]* d:f16[1,1024,14,14] | 4.2208 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,512,7,7] b:f16[2048,512,1,1]* c:f16[1,2048,7,7] d:f16[1,2048,7,7]* | 3.5696 2026-11-15 isomer 32x64 k32 1x2x4 s4 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,512,7,7] b:f16[2048,512,1,1]* c:f16[1,2048,7,7]* d:f16[1,2048,7,7] | 3.616 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c),d)) a:f16[1,64,56,56] b:f16[256,64,1,1]* c:f16[1,256,56,56]* d:f16[1,256,56,56] | 4.256 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c),d)) a:f16[1,96,28,28] b:f16[192,96,3,3]* c:f16[1,192,14,14]* d:f16[1,192,14,14] | 3.1344 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1024,14,14] b:f16[1024,1024,1,1]* c:f16[1,1024,14,14]* | 5.9392 2026-11-15 isomer 64x32 k32 2x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1024,14,14] b:f16[256,1024,1,1]* c:f16[1,256,14,14]* | 3.904 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1024,14,14] b:f16[512,1024,1,1]* c:f16[1,512,14,14]* | 5.4432 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,128,56,56] b:f16[256,128,1,1]* c:f16[1,256,56,56]* | 5.0832 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1280,8,8] b:f16[192,1280,1,1]* c:f16[1,192,8,8]* | 2.8592 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1280,8,8] b:f16[320,1280,1,1]* c:f16[1,320,8,8]* | 3.5632 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1280,8,8] b:f16[384,1280,1,1]* c:f16[1,384,8,8]* | 4.0352 2026-11-15 isomer 32x32 k32 1x1x4 s4 z2
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,1280,8,8] b:f16[448,1280,1,1]* c:f16[1,448,8,8]* | 4.1184 2026-11-15 isomer 32x32 k32 1x1x4 s4 z2
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,192,35,35] b:f16[32,192,1,1]* c:f16[1,32,35,35]* | 1.768 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,192,35,35] b:f16[48,192,1,1]* c:f16[1,48,35,35]* | 1.9824 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,192,35,35] b:f16[64,192,1,1]* c:f16[1,64,35,35]* | 4.1712 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,192,56,56] b:f16[256,192,1,1]* c:f16[1,256,56,56]* | 5.7488 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,2048,7,7] b:f16[1024,2048,1,1]* c:f16[1,1024,7,7]* | 6.3792 2026-11-15 isomer library
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,2048,7,7] b:f16[512,2048,1,1]* c:f16[1,512,7,7]* | 5.2688 2026-11-15 isomer 64x64 k32 2x2x1 s4 z8
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,2048,8,8] b:f16[192,2048,1,1]* c:f16[1,192,8,8]* | 3.6816 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,2048,8,8] b:f16[320,2048,1,1]* c:f16[1,320,8,8]* | 4.4704 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,2048,8,8] b:f16[384,2048,1,1]* c:f16[1,384,8,8]* | 5.1152 2026-11-15 isomer 32x32 k32 1x1x4 s4 z4
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,2048,8,8] b:f16[448,2048,1,1]* c:f16[1,448,8,8]* | 5.5568 2026-11-15 isomer 64x64 k32 2x2x1 s4 z8
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,256,35,35] b:f16[48,256,1,1]* c:f16[1,48,35,35]* | 2.1984 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,256,35,35] b:f16[64,256,1,1]* c:f16[1,64,35,35]* | 2.2384 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,256,56,56] b:f16[128,256,1,1]* c:f16[1,128,56,56]* | 4.1696 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,256,56,56] b:f16[256,256,1,1]* c:f16[1,256,56,56]* | 5.944 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,256,56,56] b:f16[64,256,1,1]* c:f16[1,64,56,56]* | 2.9232 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,288,35,35] b:f16[48,288,1,1]* c:f16[1,48,35,35]* | 2.3072 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,288,35,35] b:f16[64,288,1,1]* c:f16[1,64,35,35]* | 4.8624 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,32,149,149] b:f16[32,32,3,3]* c:f16[1,32,147,147]* | 8.208 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,512,28,28] b:f16[128,512,1,1]* c:f16[1,128,28,28]* | 3.1232 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,512,28,28] b:f16[256,512,1,1]* c:f16[1,256,28,28]* | 4.1984 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,512,28,28] b:f16[512,512,1,1]* c:f16[1,512,28,28]* | 5.6176 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,64,56,56] b:f16[128,64,1,1]* c:f16[1,128,56,56]* | 3.3008 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,64,56,56] b:f16[64,64,1,1]* c:f16[1,64,56,56]* | 2.648 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,64,73,73] b:f16[80,64,1,1]* c:f16[1,80,73,73]* | 3.8016 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,768,17,17] b:f16[128,768,1,1]* c:f16[1,128,17,17]* | 2.9248 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,768,17,17] b:f16[160,768,1,1]* c:f16[1,160,17,17]* | 2.9984 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,768,17,17] b:f16[192,768,1,1]* c:f16[1,192,17,17]* | 3.3024 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 1 0 1], dilation=[1 1], group=1),c)) a:f16[1,384,8,8] b:f16[384,384,1,3]* c:f16[1,384,8,8]* | 11.7216 2026-11-15 isomer 32x32 k32 1x1x4 s4 z2
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 3 0 3], dilation=[1 1], group=1),c)) a:f16[1,128,17,17] b:f16[128,128,1,7]* c:f16[1,128,17,17]* | 3.3088 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 3 0 3], dilation=[1 1], group=1),c)) a:f16[1,128,17,17] b:f16[192,128,1,7]* c:f16[1,192,17,17]* | 4.048 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 3 0 3], dilation=[1 1], group=1),c)) a:f16[1,160,17,17] b:f16[160,160,1,7]* c:f16[1,160,17,17]* | 4.56 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 3 0 3], dilation=[1 1], group=1),c)) a:f16[1,160,17,17] b:f16[192,160,1,7]* c:f16[1,192,17,17]* | 5.464 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[0 3 0 3], dilation=[1 1], group=1),c)) a:f16[1,192,17,17] b:f16[192,192,1,7]* c:f16[1,192,17,17]* | 11.7904 2026-11-15 isomer 32x64 k32 1x2x4 s4 z2
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 0 1 0], dilation=[1 1], group=1),c)) a:f16[1,384,8,8] b:f16[384,384,3,1]* c:f16[1,384,8,8]* | 11.4448 2026-11-15 isomer 32x32 k32 1x1x4 s4 z2
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,128,28,28] b:f16[128,128,3,3]* c:f16[1,128,28,28]* | 5.4144 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,192,14,14] b:f16[192,192,3,3]* c:f16[1,192,14,14]* | 4.7696 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,256,14,14] b:f16[256,256,3,3]* c:f16[1,256,14,14]* | 7.4256 2026-11-15 isomer 16x64 k32 1x2x4 s4 z4
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,448,8,8] b:f16[384,448,3,3]* c:f16[1,384,8,8]* | 6.368 2026-11-15 isomer 32x32 k32 1x1x4 s4 z4
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,48,56,56] b:f16[48,48,3,3]* c:f16[1,48,56,56]* | 4.0336 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,512,7,7] b:f16[512,512,3,3]* c:f16[1,512,7,7]* | 7.9952 2026-11-15 isomer 64x64 k32 2x2x2 s4 z8
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,64,35,35] b:f16[96,64,3,3]* c:f16[1,96,35,35]* | 3.9152 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,64,56,56] b:f16[64,64,3,3]* c:f16[1,64,56,56]* | 4.8224 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,96,28,28] b:f16[96,96,3,3]* c:f16[1,96,28,28]* | 3.8064 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,96,35,35] b:f16[96,96,3,3]* c:f16[1,96,35,35]* | 9.9904 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=16),c)) a:f16[1,512,14,14] b:f16[512,32,3,3]* c:f16[1,512,14,14]* | 2.6704 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=32),c)) a:f16[1,1024,7,7] b:f16[1024,32,3,3]* c:f16[1,1024,7,7]* | 2.2112 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=4),c)) a:f16[1,128,56,56] b:f16[128,32,3,3]* c:f16[1,128,56,56]* | 4.8704 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=8),c)) a:f16[1,256,28,28] b:f16[256,32,3,3]* c:f16[1,256,28,28]* | 3.7248 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[2 1 2 1], dilation=[1 1], group=1),c)) a:f16[1,384,8,8] b:f16[768,384,5,3]* c:f16[1,768,8,8]* | 23.9904 2026-11-15 isomer 64x64 k32 2x2x1 s4 z8
conv relu(add(conv2d(a,b,stride=[1 1], pad=[2 2 2 2], dilation=[1 1], group=1),c)) a:f16[1,48,35,35] b:f16[64,48,5,5]* c:f16[1,64,35,35]* | 10.792 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[3 0 3 0], dilation=[1 1], group=1),c)) a:f16[1,128,17,17] b:f16[128,128,7,1]* c:f16[1,128,17,17]* | 3.3024 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[3 0 3 0], dilation=[1 1], group=1),c)) a:f16[1,128,17,17] b:f16[192,128,7,1]* c:f16[1,192,17,17]* | 3.6416 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[3 0 3 0], dilation=[1 1], group=1),c)) a:f16[1,160,17,17] b:f16[160,160,7,1]* c:f16[1,160,17,17]* | 4.6672 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[1 1], pad=[3 0 3 0], dilation=[1 1], group=1),c)) a:f16[1,160,17,17] b:f16[192,160,7,1]* c:f16[1,192,17,17]* | 5.3728 2026-11-15 isomer 64x64 k32 2x2x1 s4 z4
conv relu(add(conv2d(a,b,stride=[1 1], pad=[3 0 3 0], dilation=[1 1], group=1),c)) a:f16[1,192,17,17] b:f16[192,192,7,1]* c:f16[1,192,17,17]* | 11.784 2026-11-15 isomer 32x64 k32 1x2x4 s4 z2
conv relu(add(conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,192,17,17] b:f16[192,192,3,3]* c:f16[1,192,8,8]* | 3.7376 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,192,17,17] b:f16[320,192,3,3]* c:f16[1,320,8,8]* | 4.4736 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,288,35,35] b:f16[384,288,3,3]* c:f16[1,384,17,17]* | 10.9984 2026-11-15 isomer 32x64 k32 1x2x8 s3 z2
conv relu(add(conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,8,299,299] b:f16[32,8,3,3]* c:f16[1,32,149,149]* | 4.952 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[0 0 0 0], dilation=[1 1], group=1),c)) a:f16[1,96,35,35] b:f16[96,96,3,3]* c:f16[1,96,17,17]* | 3.0352 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,128,56,56] b:f16[128,128,3,3]* c:f16[1,128,28,28]* | 5.3856 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,256,28,28] b:f16[256,256,3,3]* c:f16[1,256,14,14]* | 7.4224 2026-11-15 isomer 16x64 k32 1x2x4 s4 z4
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,48,112,112] b:f16[48,48,3,3]* c:f16[1,48,56,56]* | 3.936 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,48,56,56] b:f16[96,48,3,3]* c:f16[1,96,28,28]* | 2.6784 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,512,14,14] b:f16[512,512,3,3]* c:f16[1,512,7,7]* | 7.8896 2026-11-15 isomer 32x64 k32 1x2x4 s4 z4
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,8,224,224] b:f16[48,8,3,3]* c:f16[1,48,112,112]* | 4.6944 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=1),c)) a:f16[1,96,28,28] b:f16[192,96,3,3]* c:f16[1,192,14,14]* | 3.0656 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=16),c)) a:f16[1,512,28,28] b:f16[512,32,3,3]* c:f16[1,512,14,14]* | 2.7808 2026-11-15 isomer 64x32 k32 2x1x4 s4 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=32),c)) a:f16[1,1024,14,14] b:f16[1024,32,3,3]* c:f16[1,1024,7,7]* | 2.1936 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(add(conv2d(a,b,stride=[2 2], pad=[1 1 1 1], dilation=[1 1], group=8),c)) a:f16[1,256,56,56] b:f16[256,32,3,3]* c:f16[1,256,28,28]* | 3.7136 2026-11-15 isomer 32x32 k32 1x1x8 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,128,27,27] b:f16[32,128,1,1]* | 1.368 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,128,55,55] b:f16[16,128,1,1]* | 1.8832 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,16,55,55] b:f16[64,16,1,1]* | 3.4112 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,256,13,13] b:f16[48,256,1,1]* | 1.424 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,256,27,27] b:f16[32,256,1,1]* | 1.5104 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,32,27,27] b:f16[128,32,1,1]* | 3.04 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,384,13,13] b:f16[48,384,1,1]* | 1.5376 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,384,13,13] b:f16[64,384,1,1]* | 1.5648 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,48,13,13] b:f16[192,48,1,1]* | 1.2992 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,512,13,13] b:f16[64,512,1,1]* | 1.5872 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,64,13,13] b:f16[256,64,1,1]* | 1.3504 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[0 0 0 0], dilation=[1 1], group=1)) a:f16[1,64,55,55] b:f16[16,64,1,1]* | 1.6608 2026-11-15 isomer 16x128 k32 1x4x2 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,128,56,56] b:f16[256,128,3,3]* | 15.936 2026-11-15 isomer 64x64 k32 2x2x2 s4 z2
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,16,55,55] b:f16[128,16,3,3]* | 3.3488 2026-11-15 isomer 64x128 k32 2x4x1 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,16,55,55] b:f16[64,16,3,3]* | 5.5168 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,256,28,28] b:f16[512,256,3,3]* | 15.8688 2026-11-15 isomer 64x64 k32 2x2x4 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,256,56,56] b:f16[256,256,3,3]* | 26.1968 2026-11-15 isomer 128x128 k32 2x4x1 s4 z4
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,32,27,27] b:f16[128,32,3,3]* | 4.3552 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,32,27,27] b:f16[256,32,3,3]* | 3.272 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,48,13,13] b:f16[192,48,3,3]* | 2.0384 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,48,13,13] b:f16[384,48,3,3]* | 2.3632 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,512,14,14] b:f16[512,512,3,3]* | 13.936 2026-11-15 isomer 32x64 k32 1x2x8 s3 z2
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,512,28,28] b:f16[512,512,3,3]* | 29.6224 2026-11-15 isomer 64x64 k32 2x2x4 s3 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,64,112,112] b:f16[128,64,3,3]* | 14.0928 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,64,13,13] b:f16[256,64,3,3]* | 2.7264 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,64,13,13] b:f16[512,64,3,3]* | 3.1888 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
conv relu(conv2d(a,b,stride=[1 1], pad=[1 1 1 1], dilation=[1 1], group=1)) a:f16[1,8,224,224] b:f16[64,8,3,3]* | 10.0288 2026-11-15 isomer 128x64 k32 4x2x1 s4 z1
copy concat(a,reshape(slice(b,axes=[0], from=[0], to=[1], step=[1]),shape=[1 512]),axis=1) a:f16[1,512] b:f16[5,1,512] | 0.776 2026-11-15 isomer element
copy pad(a,begin=[0 0 0 0], end=[0 5 0 0], value=0, mode=constant) a:f16[1,3,224,224] | 1.0464 2026-11-15 isomer element
copy pad(a,begin=[0 0 0 0], end=[0 5 0 0], value=0, mode=constant) a:f16[1,3,299,299] | 1.1984 2026-11-15 isomer element
copy reshape(broadcast(reshape(concat(a,transpose(reshape(slice(b,axes=[2], from=[1024], to=[2048], step=[1]),shape=[1 1 8 128]),perm=[0 2 1 3]),axis=2),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[1 32 512 128]) a:f16[1,8,511,128] b:f16[1,1,6144] | 2.0096 2026-11-15 isomer element
copy reshape(broadcast(reshape(reshape(concat(a,transpose(reshape(b,shape=[1 1 8 128]),perm=[0 2 1 3]),axis=2),shape=[1 8 1 512 128]),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[1 32 512 128]) a:f16[1,8,511,128] b:f16[1,1,1024] | 2.0096 2026-11-15 isomer element
copy reshape(broadcast(reshape(reshape(transpose(reshape(a,shape=[1 512 8 128]),perm=[0 2 1 3]),shape=[1 8 1 512 128]),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[1 32 512 128]) a:f16[1,512,1024] | 2.0512 2026-11-15 isomer element
copy reshape(broadcast(reshape(transpose(reshape(slice(a,axes=[2], from=[1024], to=[2048], step=[1]),shape=[1 512 8 128]),perm=[0 2 1 3]),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[1 32 512 128]) a:f16[1,512,6144] | 2.0112 2026-11-15 isomer element
copy reshape(transpose(reshape(broadcast(reshape(concat(a,transpose(reshape(slice(b,axes=[2], from=[0], to=[1024], step=[1]),shape=[1 1 8 128]),perm=[0 2 1 3]),axis=2),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[32 512 128]),perm=[0 2 1]),shape=[1 32 128 512]) a:f16[1,8,511,128] b:f16[1,1,6144] | 9.5584 2026-11-15 isomer element
matmul add(a,add(b,matmul(c,d))) a:f16[1,1,4096] b:f16[1,1,4096] c:f16[1,1,14336] d:f16[14336,4096]* | 30.816 2026-11-15 isomer 16x64 k32 1x2x8 s3 z2
matmul add(a,add(matmul(b,c),d)) a:f16[1,128,768] b:f16[1,128,3072] c:f16[3072,768]* d:f16[1,128,768]* | 7.8864 2026-11-15 isomer library
matmul add(a,add(matmul(b,c),d)) a:f16[1,128,768] b:f16[1,128,768] c:f16[768,768]* d:f16[1,128,768]* | 3.4176 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul add(a,add(matmul(b,c),d)) a:f16[1,197,768] b:f16[1,197,3072] c:f16[3072,768]* d:f16[1,197,768]* | 7.872 2026-11-15 isomer library
matmul add(a,matmul(b,c)) a:f16[1,1,4096] b:f16[1,1,14336] c:f16[14336,4096]* | 30.5936 2026-11-15 isomer 16x64 k32 1x2x8 s3 z2
matmul add(a,matmul(b,c)) a:f16[1,512,4096] b:f16[1,512,14336] c:f16[14336,4096]* | 85.1312 2026-11-15 isomer library
matmul add(a,matmul(b,c)) a:f16[1,512,4096] b:f16[1,512,4096] c:f16[4096,4096]* | 27.3936 2026-11-15 isomer library
matmul add(matmul(a,b),c) a:f16[1,128,3072] b:f16[3072,768]* c:f16[1,128,768] | 7.7376 2026-11-15 isomer library
matmul add(matmul(a,b),c) a:f16[1,128,768] b:f16[768,2304]* c:f16[1,128,2304]* | 4.8768 2026-11-15 isomer library
matmul add(matmul(a,b),c) a:f16[1,128,768] b:f16[768,768]* c:f16[1,128,768] | 3.3392 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul add(matmul(a,b),c) a:f16[1,128,768] b:f16[768,768]* c:f16[1,128,768]* | 3.4144 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul add(matmul(a,b),c) a:f16[1,1280] b:f16[1280,1000]* c:f16[1,1000]* | 3.0192 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul add(matmul(a,b),c) a:f16[1,197,3072] b:f16[3072,768]* c:f16[1,197,768] | 7.8048 2026-11-15 isomer library
matmul add(matmul(a,b),c) a:f16[1,2048] b:f16[2048,2048]* c:f16[1,2048]* | 4.4176 2026-11-15 isomer 16x128 k32 1x4x2 s4 z8
matmul add(matmul(reshape(a,shape=[1 2048]),b),c) a:f16[1,2048] b:f16[2048,1000]* c:f16[1,1000]* | 3.632 2026-11-15 isomer 16x128 k32 1x4x2 s4 z8
matmul add(matmul(reshape(reshape(a,shape=[1 2048 1 1]),shape=[1 2048]),b),c) a:f16[1,2048] b:f16[2048,1000]* c:f16[1,1000]* | 3.648 2026-11-15 isomer 16x128 k32 1x4x2 s4 z8
matmul add(matmul(transpose(a,perm=[1 0 2]),b),c) a:f16[1,197,768] b:f16[768,2304]* c:f16[197,1,2304]* | 5.2656 2026-11-15 isomer library
matmul add(transpose(reshape(matmul(a,b),shape=[197 1 768]),perm=[1 0 2]),c) a:f16[197,768] b:f16[768,768]* c:f16[1,197,768] | 4.5808 2026-11-15 isomer library
matmul gelu(add(a,mul(matmul(b,c),d))) a:f16[1,2048] b:f16[1,16] c:f16[16,2048]* d:f16[1,2048]* | 1.5888 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
matmul gelu(add(matmul(a,b),c)) a:f16[1,128,768] b:f16[768,3072]* c:f16[1,128,3072]* | 5.464 2026-11-15 isomer library
matmul gelu(add(matmul(a,b),c)) a:f16[1,197,768] b:f16[768,3072]* c:f16[1,197,3072]* | 6.4576 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,1,4096] b:f16[4096,1024]* | 4.584 2026-11-15 isomer 16x64 k32 1x2x4 s4 z8
matmul matmul(a,b) a:f16[1,1,4096] b:f16[4096,28672]* | 58.7456 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,1,4096] b:f16[4096,6144]* | 13.6672 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,1024] b:f16[1024,4096]* | 3.4016 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
matmul matmul(a,b) a:f16[1,12,128,64] b:f16[1,12,64,128] | 2.0304 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
matmul matmul(a,b) a:f16[1,12,197,64] b:f16[1,12,64,197] | 3.5984 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
matmul matmul(a,b) a:f16[1,128,768] b:f16[768,768]* | 3.1872 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul matmul(a,b) a:f16[1,2048] b:f16[2048,16]* | 2.7168 2026-11-15 isomer 32x32 k32 1x1x4 s4 z4
matmul matmul(a,b) a:f16[1,2048] b:f16[2048,4096]* | 4.8448 2026-11-15 isomer 16x32 k32 1x1x16 s3 z1
matmul matmul(a,b) a:f16[1,32,1,128] b:f16[1,32,128,512] | 2.2848 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
matmul matmul(a,b) a:f16[1,32,1,512] b:f16[1,32,512,128] | 2.6528 2026-11-15 isomer 16x64 k32 1x2x8 s3 z1
matmul matmul(a,b) a:f16[1,32,512,128] b:f16[1,32,128,512] | 8.776 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,4096] b:f16[4096,1000]* | 4.568 2026-11-15 isomer 16x64 k32 1x2x4 s4 z8
matmul matmul(a,b) a:f16[1,512,4096] b:f16[4096,1024]* | 10.6016 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,512,4096] b:f16[4096,14336]* | 94.5088 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,512,4096] b:f16[4096,28672]* | 172.946 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,512,4096] b:f16[4096,4096]* | 24.5856 2026-11-15 isomer library
matmul matmul(a,b) a:f16[1,512,4096] b:f16[4096,6144]* | 36.792 2026-11-15 isomer library
matmul matmul(reshape(reshape(a,shape=[1 1280 1 1]),shape=[1 1280]),b) a:f16[1,1280] b:f16[1280,1000]* | 2.9184 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul matmul(reshape(slice(a,axes=[0], from=[0], to=[1], step=[1]),shape=[1 512]),b) a:f16[5,1,512] b:f16[512,512]* | 1.3584 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul matmul(reshape(slice(a,axes=[0], from=[1], to=[2], step=[1]),shape=[1 512]),b) a:f16[5,1,512] b:f16[512,512]* | 1.36 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul matmul(reshape(slice(a,axes=[0], from=[2], to=[3], step=[1]),shape=[1 512]),b) a:f16[5,1,512] b:f16[512,512]* | 1.3392 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul matmul(reshape(slice(a,axes=[0], from=[3], to=[4], step=[1]),shape=[1 512]),b) a:f16[5,1,512] b:f16[512,512]* | 1.3648 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul matmul(reshape(slice(a,axes=[0], from=[4], to=[5], step=[1]),shape=[1 512]),b) a:f16[5,1,512] b:f16[512,512]* | 1.3664 2026-11-15 isomer 16x16 k64 1x1x8 s2 z1
matmul matmul(reshape(slice(a,axes=[1], from=[0], to=[1], step=[1]),shape=[1 768]),b) a:f16[1,197,768] b:f16[768,1000]* | 2.1232 2026-11-15 isomer 16x32 k32 1x1x8 s3 z1
matmul matmul(reshape(transpose(a,perm=[0 2 1 3]),shape=[1 1 4096]),b) a:f16[1,32,1,128] b:f16[4096,4096]* | 9.1296 2026-11-15 isomer library
matmul matmul(reshape(transpose(reshape(a,shape=[197 12 64]),perm=[1 0 2]),shape=[1 12 197 64]),reshape(transpose(transpose(reshape(reshape(slice(reshape(transpose(reshape(b,shape=[1 197 1 3 768]),perm=[3 1 2 0 4]),shape=[3 197 1 768]),axes=[0], from=[1], to=[2], step=[1]),shape=[197 1 768]),shape=[197 12 64]),perm=[1 0 2]),perm=[0 2 1]),shape=[1 12 64 197])) a:f16[197,1,768] b:f16[197,1,2304] | 3.6816 2026-11-15 isomer 64x64 k32 2x2x2 s4 z1
matmul matmul(transpose(reshape(slice(a,axes=[2], from=[1536], to=[2304], step=[1]),shape=[1 128 12 64]),perm=[0 2 1 3]),reshape(transpose(reshape(transpose(reshape(b,shape=[1 128 12 64]),perm=[0 2 1 3]),shape=[12 128 64]),perm=[0 2 1]),shape=[1 12 64 128])) a:f16[1,128,2304] b:f16[1,128,768] | 1.8512 2026-11-15 isomer 64x64 k32 2x2x1 s4 z1
matmul matmul(transpose(reshape(slice(a,axes=[2], from=[2048], to=[6144], step=[1]),shape=[1 1 32 128]),perm=[0 2 1 3]),b) a:f16[1,1,6144] b:f16[1,32,128,512] | 2.2832 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
matmul matmul(transpose(reshape(slice(a,axes=[2], from=[2048], to=[6144], step=[1]),shape=[1 512 32 128]),perm=[0 2 1 3]),reshape(transpose(reshape(b,shape=[32 512 128]),perm=[0 2 1]),shape=[1 32 128 512])) a:f16[1,512,6144] b:f16[1,8,4,512,128] | 7.9936 2026-11-15 isomer library
matmul mul(a,matmul(b,c)) a:f16[1,1,14336] b:f16[1,1,4096] c:f16[4096,14336]* | 31.208 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
matmul mul(reshape(transpose(reshape(transpose(reshape(add(matmul(a,b),c),shape=[1 128 12 64]),perm=[0 2 1 3]),shape=[12 128 64]),perm=[0 2 1]),shape=[1 12 64 128]),d) a:f16[1,128,768] b:f16[768,768]* c:f16[1,128,768]* d:f16[1,12,64,128]* | 3.5888 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul mul(transpose(reshape(matmul(a,b),shape=[1 1 32 128]),perm=[0 2 1 3]),c) a:f16[1,1,4096] b:f16[4096,4096]* c:f16[1,32,1,128]* | 9.3968 2026-11-15 isomer 16x64 k32 1x2x8 s3 z2
matmul relu(matmul(a,b)) a:f16[1,25088] b:f16[25088,4096]* | 50.8304 2026-11-15 isomer library
matmul relu(matmul(a,b)) a:f16[1,4096] b:f16[4096,4096]* | 9.2256 2026-11-15 isomer 16x64 k32 1x2x4 s4 z2
matmul reshape(transpose(matmul(a,b),perm=[0 2 1 3]),shape=[1 512 4096]) a:f16[1,32,512,512] b:f16[1,32,512,128] | 7.9296 2026-11-15 isomer library
matmul reshape(transpose(matmul(a,reshape(transpose(reshape(reshape(slice(reshape(transpose(reshape(b,shape=[1 197 1 3 768]),perm=[3 1 2 0 4]),shape=[3 197 1 768]),axes=[0], from=[2], to=[3], step=[1]),shape=[197 1 768]),shape=[197 12 64]),perm=[1 0 2]),shape=[1 12 197 64])),perm=[2 0 1 3]),shape=[197 768]) a:f16[1,12,197,197] b:f16[197,1,2304] | 3.0576 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
matmul reshape(transpose(matmul(a,reshape(transpose(reshape(reshape(slice(reshape(transpose(reshape(reshape(b,shape=[197 1 3 768]),shape=[1 197 1 3 768]),perm=[3 1 2 0 4]),shape=[3 197 1 768]),axes=[0], from=[2], to=[3], step=[1]),shape=[197 1 768]),shape=[197 12 64]),perm=[1 0 2]),shape=[1 12 197 64])),perm=[2 0 1 3]),shape=[197 768]) a:f16[1,12,197,197] b:f16[197,1,2304] | 3.0592 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
matmul reshape(transpose(matmul(a,transpose(reshape(b,shape=[1 128 12 64]),perm=[0 2 1 3])),perm=[0 2 1 3]),shape=[1 128 768]) a:f16[1,12,128,128] b:f16[1,128,768] | 2.1904 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul reshape(transpose(matmul(a,transpose(reshape(slice(b,axes=[2], from=[768], to=[1536], step=[1]),shape=[1 128 12 64]),perm=[0 2 1 3])),perm=[0 2 1 3]),shape=[1 128 768]) a:f16[1,12,128,128] b:f16[1,128,2304] | 2.1968 2026-11-15 isomer 32x32 k32 1x1x4 s4 z1
matmul x0=matmul(a,b) mul(mul(x0,sigmoid(x0)),c) a:f16[1,512,4096] b:f16[4096,14336]* c:f16[1,512,14336] | 106.088 2026-11-15 isomer library
matmul x0=matmul(a,b) mul(x0,sigmoid(x0)) a:f16[1,1,4096] b:f16[4096,14336]* | 31.1968 2026-11-15 isomer 16x64 k32 1x2x4 s4 z1
norm layer_norm(a,b,c,axis=2, epsilon=9.999999747378752e-06) a:f16[1,128,768] b:f16[768]* c:f16[768]* | 2.3264 2026-11-15 isomer element
norm layer_norm(a,b,c,axis=2, epsilon=9.999999974752427e-07) a:f16[1,197,768] b:f16[768]* c:f16[768]* | 2.3344 2026-11-15 isomer element
norm layer_norm(add(a,b),c,d,axis=2, epsilon=9.999999747378752e-06) a:f16[1,128,768] b:f16[1,128,768]* c:f16[768]* d:f16[768]* | 2.4096 2026-11-15 isomer element
norm layer_norm(add(a,b),c,d,axis=2, epsilon=9.999999974752427e-07) a:f16[1,197,768] b:f16[1,197,768]* c:f16[768]* d:f16[768]* | 2.4704 2026-11-15 isomer element
pointwise add(concat(a,transpose(reshape(b,shape=[1 768 196]),perm=[0 2 1]),axis=1),c) a:f16[1,1,768]* b:f16[1,768,14,14] c:f16[1,197,768]* | 0.9744 2026-11-15 isomer element
pointwise batch_norm(a,b,c,d,e,epsilon=9.999999747378752e-06) a:f16[1,192,14,14] b:f16[192]* c:f16[192]* d:f16[192]* e:f16[192]* | 1.3424 2026-11-15 isomer element
pointwise batch_norm(a,b,c,d,e,epsilon=9.999999747378752e-06) a:f16[1,48,56,56] b:f16[48]* c:f16[48]* d:f16[48]* e:f16[48]* | 1.6432 2026-11-15 isomer element
pointwise batch_norm(a,b,c,d,e,epsilon=9.999999747378752e-06) a:f16[1,96,28,28] b:f16[96]* c:f16[96]* d:f16[96]* e:f16[96]* | 1.5936 2026-11-15 isomer element
pointwise concat(relu(add(slice(a,axes=[1], from=[0], to=[192], step=[1]),b)),c,d,e,axis=1) a:f16[1,448,17,17] b:f16[1,192,17,17]* c:f16[1,192,17,17] d:f16[1,192,17,17] e:f16[1,192,17,17] | 1.3888 2026-11-15 isomer element
pointwise concat(relu(add(slice(a,axes=[1], from=[0], to=[192], step=[1]),b)),c,d,e,axis=1) a:f16[1,512,17,17] b:f16[1,192,17,17]* c:f16[1,192,17,17] d:f16[1,192,17,17] e:f16[1,192,17,17] | 1.3952 2026-11-15 isomer element
pointwise concat(relu(add(slice(a,axes=[1], from=[0], to=[192], step=[1]),b)),c,d,e,axis=1) a:f16[1,576,17,17] b:f16[1,192,17,17]* c:f16[1,192,17,17] d:f16[1,192,17,17] e:f16[1,192,17,17] | 1.392 2026-11-15 isomer element
pointwise concat(relu(add(slice(a,axes=[1], from=[0], to=[320], step=[1]),b)),c,d,e,axis=1) a:f16[1,1152,8,8] b:f16[1,320,8,8]* c:f16[1,768,8,8] d:f16[1,768,8,8] e:f16[1,192,8,8] | 1.1568 2026-11-15 isomer element
pointwise concat(relu(add(slice(a,axes=[1], from=[0], to=[64], step=[1]),b)),c,d,e,axis=1) a:f16[1,176,35,35] b:f16[1,64,35,35]* c:f16[1,64,35,35] d:f16[1,96,35,35] e:f16[1,32,35,35] | 1.0544 2026-11-15 isomer element
pointwise concat(relu(add(slice(a,axes=[1], from=[0], to=[64], step=[1]),b)),c,d,e,axis=1) a:f16[1,176,35,35] b:f16[1,64,35,35]* c:f16[1,64,35,35] d:f16[1,96,35,35] e:f16[1,64,35,35] | 1.0592 2026-11-15 isomer element
pointwise concat(tanh(mul(tanh(add(mul(sigmoid(slice(a,axes=[1], from=[0], to=[512], step=[1])),relu(slice(a,axes=[1], from=[512], to=[1024], step=[1]))),mul(sigmoid(slice(a,axes=[1], from=[1024], to=[1536], step=[1])),tanh(slice(a,axes=[1], from=[1536], to=[2048], step=[1]))))),sigmoid(add(mul(tanh(slice(a,axes=[1], from=[2048], to=[2560], step=[1])),sigmoid(slice(a,axes=[1], from=[2560], to=[3072], step=[1]))),mul(relu(slice(a,axes=[1], from=[3072], to=[3584], step=[1])),tanh(slice(a,axes=[1], from=[3584], to=[4096], step=[1]))))))),reshape(slice(b,axes=[0], from=[1], to=[2], step=[1]),shape=[1 512]),axis=1) a:f16[1,4096] b:f16[5,1,512] | 1.008 2026-11-15 isomer element
pointwise concat(tanh(mul(tanh(add(mul(sigmoid(slice(a,axes=[1], from=[0], to=[512], step=[1])),relu(slice(a,axes=[1], from=[512], to=[1024], step=[1]))),mul(sigmoid(slice(a,axes=[1], from=[1024], to=[1536], step=[1])),tanh(slice(a,axes=[1], from=[1536], to=[2048], step=[1]))))),sigmoid(add(mul(tanh(slice(a,axes=[1], from=[2048], to=[2560], step=[1])),sigmoid(slice(a,axes=[1], from=[2560], to=[3072], step=[1]))),mul(relu(slice(a,axes=[1], from=[3072], to=[3584], step=[1])),tanh(slice(a,axes=[1], from=[3584], to=[4096], step=[1]))))))),reshape(slice(b,axes=[0], from=[2], to=[3], step=[1]),shape=[1 512]),axis=1) a:f16[1,4096] b:f16[5,1,512] | 1 2026-11-15 isomer element
pointwise concat(tanh(mul(tanh(add(mul(sigmoid(slice(a,axes=[1], from=[0], to=[512], step=[1])),relu(slice(a,axes=[1], from=[512], to=[1024], step=[1]))),mul(sigmoid(slice(a,axes=[1], from=[1024], to=[1536], step=[1])),tanh(slice(a,axes=[1], from=[1536], to=[2048], step=[1]))))),sigmoid(add(mul(tanh(slice(a,axes=[1], from=[2048], to=[2560], step=[1])),sigmoid(slice(a,axes=[1], from=[2560], to=[3072], step=[1]))),mul(relu(slice(a,axes=[1], from=[3072], to=[3584], step=[1])),tanh(slice(a,axes=[1], from=[3584], to=[4096], step=[1]))))))),reshape(slice(b,axes=[0], from=[3], to=[4], step=[1]),shape=[1 512]),axis=1) a:f16[1,4096] b:f16[5,1,512] | 0.9984 2026-11-15 isomer element
pointwise concat(tanh(mul(tanh(add(mul(sigmoid(slice(a,axes=[1], from=[0], to=[512], step=[1])),relu(slice(a,axes=[1], from=[512], to=[1024], step=[1]))),mul(sigmoid(slice(a,axes=[1], from=[1024], to=[1536], step=[1])),tanh(slice(a,axes=[1], from=[1536], to=[2048], step=[1]))))),sigmoid(add(mul(tanh(slice(a,axes=[1], from=[2048], to=[2560], step=[1])),sigmoid(slice(a,axes=[1], from=[2560], to=[3072], step=[1]))),mul(relu(slice(a,axes=[1], from=[3072], to=[3584], step=[1])),tanh(slice(a,axes=[1], from=[3584], to=[4096], step=[1]))))))),reshape(slice(b,axes=[0], from=[4], to=[5], step=[1]),shape=[1 512]),axis=1) a:f16[1,4096] b:f16[5,1,512] | 1.0064 2026-11-15 isomer element
pointwise gelu(add(add(slice(a,axes=[1], from=[0], to=[2048], step=[1]),b),slice(a,axes=[1], from=[2048], to=[4096], step=[1]))) a:f16[1,4096] b:f16[1,2048]* | 0.8304 2026-11-15 isomer element
pointwise mul(broadcast(reshape(transpose(reshape(slice(a,axes=[2], from=[0], to=[1024], step=[1]),shape=[1 512 8 128]),perm=[0 2 1 3]),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),b) a:f16[1,512,6144] b:f16[1,8,4,512,128]* | 2.1552 2026-11-15 isomer element
pointwise mul(reshape(slice(reshape(transpose(reshape(a,shape=[1 197 1 3 768]),perm=[3 1 2 0 4]),shape=[3 197 1 768]),axes=[0], from=[0], to=[1], step=[1]),shape=[197 1 768]),b) a:f16[197,1,2304] b:f16[197,1,768]* | 0.968 2026-11-15 isomer element
pointwise mul(reshape(transpose(reshape(broadcast(reshape(reshape(concat(a,transpose(reshape(b,shape=[1 1 8 128]),perm=[0 2 1 3]),axis=2),shape=[1 8 1 512 128]),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[32 512 128]),perm=[0 2 1]),shape=[1 32 128 512]),c) a:f16[1,8,511,128] b:f16[1,1,1024] c:f16[1,32,128,512]* | 9.664 2026-11-15 isomer element
pointwise mul(reshape(transpose(reshape(broadcast(reshape(reshape(transpose(reshape(a,shape=[1 512 8 128]),perm=[0 2 1 3]),shape=[1 8 1 512 128]),shape=[1 8 512 128]),shape=[1 8 4 512 128], dims=[0 1 3 4]),shape=[32 512 128]),perm=[0 2 1]),shape=[1 32 128 512]),b) a:f16[1,512,1024] b:f16[1,32,128,512]* | 11.5808 2026-11-15 isomer element
pointwise mul(reshape(transpose(reshape(reshape(slice(reshape(transpose(reshape(reshape(a,shape=[197 1 3 768]),shape=[1 197 1 3 768]),perm=[3 1 2 0 4]),shape=[3 197 1 768]),axes=[0], from=[0], to=[1], step=[1]),shape=[197 1 768]),shape=[197 12 64]),perm=[1 0 2]),shape=[1 12 197 64]),b) a:f16[197,1,2304] b:f16[1,12,197,64]* | 0.9824 2026-11-15 isomer element
pointwise mul(reshape(transpose(transpose(reshape(reshape(slice(reshape(transpose(reshape(reshape(a,shape=[197 1 3 768]),shape=[1 197 1 3 768]),perm=[3 1 2 0 4]),shape=[3 197 1 768]),axes=[0], from=[1], to=[2], step=[1]),shape=[197 1 768]),shape=[197 12 64]),perm=[1 0 2]),perm=[0 2 1]),shape=[1 12 64 197]),b) a:f16[197,1,2304] b:f16[1,12,64,197]* | 2.4976 2026-11-15 isomer element
pointwise mul(slice(a,axes=[2], from=[0], to=[768], step=[1]),b) a:f16[1,128,2304] b:f16[1,128,768]* | 0.9536 2026-11-15 isomer element
pointwise mul(transpose(reshape(a,shape=[1 512 32 128]),perm=[0 2 1 3]),b) a:f16[1,512,4096] b:f16[1,32,512,128]* | 2.272 2026-11-15 isomer element
pointwise mul(transpose(reshape(add(a,b),shape=[1 128 12 64]),perm=[0 2 1 3]),c) a:f16[1,128,768] b:f16[1,128,768]* c:f16[1,12,128,64]* | 1.0016 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[0], to=[192], step=[1]),b)) a:f16[1,384,17,17] b:f16[1,192,17,17]* | 1.384 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[112], to=[176], step=[1]),b)) a:f16[1,176,35,35] b:f16[1,64,35,35]* | 1.0672 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[192], to=[320], step=[1]),b)) a:f16[1,448,17,17] b:f16[1,128,17,17]* | 1.1424 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[192], to=[352], step=[1]),b)) a:f16[1,512,17,17] b:f16[1,160,17,17]* | 1.2576 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[192], to=[384], step=[1]),b)) a:f16[1,384,17,17] b:f16[1,192,17,17]* | 1.3584 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[192], to=[384], step=[1]),b)) a:f16[1,576,17,17] b:f16[1,192,17,17]* | 1.3408 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[320], to=[448], step=[1]),b)) a:f16[1,448,17,17] b:f16[1,128,17,17]* | 1.136 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[320], to=[704], step=[1]),b)) a:f16[1,1152,8,8] b:f16[1,384,8,8]* | 1.2 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[352], to=[512], step=[1]),b)) a:f16[1,512,17,17] b:f16[1,160,17,17]* | 1.2336 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[384], to=[576], step=[1]),b)) a:f16[1,576,17,17] b:f16[1,192,17,17]* | 1.4224 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[64], to=[112], step=[1]),b)) a:f16[1,176,35,35] b:f16[1,48,35,35]* | 1.0768 2026-11-15 isomer element
pointwise relu(add(slice(a,axes=[1], from=[704], to=[1152], step=[1]),b)) a:f16[1,1152,8,8] b:f16[1,448,8,8]* | 1.2256 2026-11-15 isomer element
pointwise relu(slice(a,axes=[1], from=[320], to=[704], step=[1])) a:f16[1,1152,8,8] | 0.8896 2026-11-15 isomer element
pointwise relu(slice(a,axes=[1], from=[704], to=[1152], step=[1])) a:f16[1,1152,8,8] | 0.9136 2026-11-15 isomer element
pointwise tanh(mul(tanh(add(mul(sigmoid(add(a,b)),relu(add(c,d))),mul(sigmoid(add(e,f)),tanh(add(g,h))))),sigmoid(add(mul(tanh(add(i,j)),sigmoid(add(k,l))),mul(relu(add(m,n)),tanh(add(o,p))))))) a:f16[1,512] b:f16[1,512] c:f16[1,512] d:f16[1,512] e:f16[1,512] f:f16[1,512] g:f16[1,512] h:f16[1,512] i:f16[1,512] j:f16[1,512] k:f16[1,512] l:f16[1,512] m:f16[1,512] n:f16[1,512] o:f16[1,512] p:f16[1,512] | 1.048 2026-11-15 isomer element
pointwise tanh(mul(tanh(add(mul(sigmoid(slice(a,axes=[1], from=[0], to=[512], step=[1])),relu(slice(a,axes=[1], from=[512], to=[1024], step=[1]))),mul(sigmoid(slice(a,axes=[1], from=[1024], to=[1536], step=[1])),tanh(slice(a,axes=[1], from=[1536], to=[2048], step=[1]))))),sigmoid(add(mul(tanh(slice(a,axes=[1], from=[2048], to=[2560], step=[1])),sigmoid(slice(a,axes=[1], from=[2560], to=[3072], step=[1]))),mul(relu(slice(a,axes=[1], from=[3072], to=[3584], step=[1])),tanh(slice(a,axes=[1], from=[3584], to=[4096], step=[1]))))))) a:f16[1,4096] | 0.88 2026-11-15 isomer element
pointwise x0=slice(a,axes=[2], from=[0], to=[14336], step=[1]) mul(mul(x0,sigmoid(x0)),slice(a,axes=[2], from=[14336], to=[28672], step=[1])) a:f16[1,1,28672] | 0.9408 2026-11-15 isomer element
pointwise x0=slice(a,axes=[2], from=[0], to=[14336], step=[1]) mul(mul(x0,sigmoid(x0)),slice(a,axes=[2], from=[14336], to=[28672], step=[1])) a:f16[1,512,28672] | 8.8528 2026-11-15 isomer element
pool avg_pool(a,kernel=[3 3], stride=[1 1], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0, count_include_pad=1) a:f16[1,1280,8,8] | 1.4592 2026-11-15 isomer element
pool avg_pool(a,kernel=[3 3], stride=[1 1], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0, count_include_pad=1) a:f16[1,192,35,35] | 2.0928 2026-11-15 isomer element
pool avg_pool(a,kernel=[3 3], stride=[1 1], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0, count_include_pad=1) a:f16[1,2048,8,8] | 1.56 2026-11-15 isomer element
pool avg_pool(a,kernel=[3 3], stride=[1 1], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0, count_include_pad=1) a:f16[1,256,35,35] | 2.568 2026-11-15 isomer element
pool avg_pool(a,kernel=[3 3], stride=[1 1], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0, count_include_pad=1) a:f16[1,288,35,35] | 2.8016 2026-11-15 isomer element
pool avg_pool(a,kernel=[3 3], stride=[1 1], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0, count_include_pad=1) a:f16[1,768,17,17] | 2.0112 2026-11-15 isomer element
pool max_pool(a,kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,288,35,35] | 1.2432 2026-11-15 isomer element
pool max_pool(a,kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,768,17,17] | 1.0944 2026-11-15 isomer element
pool max_pool(concat(a,b,axis=1),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=1) a:f16[1,128,27,27] b:f16[1,128,27,27] | 1.1872 2026-11-15 isomer element
pool max_pool(concat(a,b,axis=1),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=1) a:f16[1,64,55,55] b:f16[1,64,55,55] | 1.7552 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[2 2], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,128,112,112] | 2.24 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[2 2], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,256,56,56] | 1.28 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[2 2], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,512,14,14] | 0.9168 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[2 2], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,512,28,28] | 1.1808 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[2 2], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,64,224,224] | 4.1952 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=1) a:f16[1,128,55,55] | 1.3152 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=1) a:f16[1,256,27,27] | 1.0624 2026-11-15 isomer element
pool max_pool(relu(a),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=1) a:f16[1,64,111,111] | 1.5328 2026-11-15 isomer element
pool max_pool(relu(add(a,b)),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,192,71,71] b:f16[1,192,71,71]* | 6.4 2026-11-15 isomer element
pool max_pool(relu(add(a,b)),kernel=[3 3], stride=[2 2], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0) a:f16[1,64,147,147] b:f16[1,64,147,147]* | 7.2608 2026-11-15 isomer element
pool max_pool(relu(add(a,b)),kernel=[3 3], stride=[2 2], pad=[1 1 1 1], dilation=[1 1], ceil_mode=0) a:f16[1,64,112,112] b:f16[1,64,112,112]* | 8.7232 2026-11-15 isomer element
pool reshape(cast(avg_pool(cast(a,to=f32),kernel=[1 1], stride=[1 1], pad=[0 0 0 0], dilation=[1 1], ceil_mode=0, count_include_pad=1),to=f16),shape=[1 25088]) a:f16[1,512,7,7] | 1.0976 2026-11-15 isomer element
reduce reduce_mean(clip(a,min=0, max=6),axes=[2 3]) a:f16[1,1280,7,7] | 1.7232 2026-11-15 isomer element
reduce reduce_mean(concat(a,b,c,d,axis=1),axes=[2 3]) a:f16[1,320,8,8] b:f16[1,768,8,8] c:f16[1,768,8,8] d:f16[1,192,8,8] | 2.1776 2026-11-15 isomer element
reduce reduce_mean(concat(relu(slice(a,axes=[1], from=[0], to=[320], step=[1])),relu(concat(add(slice(b,axes=[1], from=[384], to=[768], step=[1]),c),add(slice(b,axes=[1], from=[0], to=[384], step=[1]),d),axis=1)),relu(concat(add(slice(e,axes=[1], from=[384], to=[768], step=[1]),f),add(slice(e,axes=[1], from=[0], to=[384], step=[1]),g),axis=1)),h,axis=1),axes=[2 3]) a:f16[1,1152,8,8] b:f16[1,768,8,8] c:f16[1,384,8,8]* d:f16[1,384,8,8]* e:f16[1,768,8,8] f:f16[1,384,8,8]* g:f16[1,384,8,8]* h:f16[1,192,8,8] | 2.2608 2026-11-15 isomer element
reduce reduce_mean(relu(a),axes=[2 3]) a:f16[1,1280,7,7] | 1.712 2026-11-15 isomer element
reduce reduce_mean(relu(a),axes=[2 3]) a:f16[1,2048,7,7] | 1.968 2026-11-15 isomer element
reduce reshape(reduce_mean(relu(a),axes=[2 3]),shape=[1 1000]) a:f16[1,1000,13,13] | 1.9568 2026-11-15 isomer element
reduce reshape(reshape(reduce_mean(relu(a),axes=[2 3]),shape=[1 1000 1 1]),shape=[1 1000]) a:f16[1,1000,13,13] | 1.9632 2026-11-15 isomer element
reduce x0!=add(a,b) x1=cast(x0,to=f32) mul(cast(mul(x1,broadcast(reshape(reciprocal(sqrt(add(reshape(reduce_mean(pow(x1,c),axes=[2]),shape=[1 1 1]),d))),shape=[1 1]),shape=[1 1 4096], dims=[0 1])),to=f16),e) a:f16[1,1,4096] b:f16[1,1,4096] c:f32[1,1,4096]* d:f32[1,1,1]* e:f16[1,1,4096]* | 5.2304 2026-11-15 isomer element
reduce x0=cast(a,to=f32) cast(mul(x0,broadcast(reshape(reciprocal(sqrt(add(reshape(reduce_mean(mul(x0,x0),axes=[2]),shape=[1 1 1]),b))),shape=[1 1]),shape=[1 1 4096], dims=[0 1])),to=f16) a:f16[1,1,4096] b:f32[1,1,1]* | 1.608 2026-11-15 isomer element
reduce x0=cast(a,to=f32) cast(mul(x0,broadcast(reshape(reciprocal(sqrt(add(reshape(reduce_mean(mul(x0,x0),axes=[2]),shape=[1 512 1]),b))),shape=[1 512]),shape=[1 512 4096], dims=[0 1])),to=f16) a:f16[1,512,4096] b:f32[1,512,1]* | 3.4176 2026-11-15 isomer element
reduce x0=cast(a,to=f32) mul(cast(mul(x0,broadcast(reshape(reciprocal(sqrt(add(reshape(reduce_mean(pow(x0,b),axes=[2]),shape=[1 1 1]),c))),shape=[1 1]),shape=[1 1 4096], dims=[0 1])),to=f16),d) a:f16[1,1,4096] b:f32[1,1,4096]* c:f32[1,1,1]* d:f16[1,1,4096]* | 4.4208 2026-11-15 isomer element
reduce x0=cast(a,to=f32) mul(cast(mul(x0,broadcast(reshape(reciprocal(sqrt(add(reshape(reduce_mean(pow(x0,b),axes=[2]),shape=[1 512 1]),c))),shape=[1 512]),shape=[1 512 4096], dims=[0 1])),to=f16),d) a:f16[1,512,4096] b:f32[1,512,4096]* c:f32[1,512,1]* d:f16[1,512,4096]* | 11.712 2026-11-15 isomer element
reduce x0=cast(add(a,b),to=f32) cast(mul(x0,broadcast(reshape(reciprocal(sqrt(add(reshape(reduce_mean(mul(x0,x0),axes=[2]),shape=[1 1 1]),c))),shape=[1 1]),shape=[1 1 4096], dims=[0 1])),to=f16) a:f16[1,1,4096] b:f16[1,1,4096] c:f32[1,1,1]* | 1.8112 2026-11-15 isomer element
softmax softmax(a,axis=3) a:f16[1,12,128,128] | 1.6368 2026-11-15 isomer element
softmax softmax(a,axis=3) a:f16[1,12,197,197] | 4.9408 2026-11-15 isomer element
softmax softmax(a,axis=3) a:f16[1,32,1,512] | 1.8512 2026-11-15 isomer element
softmax softmax(a,axis=3) a:f16[1,32,512,512] | 20.1104 2026-11-15 isomer element
