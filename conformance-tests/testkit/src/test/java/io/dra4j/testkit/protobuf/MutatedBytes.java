// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Recorded answers with one fault each; the same seed gives the same. */
public final class MutatedBytes {
    private static final int LONGEST = 4_000;

    private final Random random;
    private final List<byte[]> originals;

    public MutatedBytes(long seed, List<byte[]> originals) {
        this.random = new Random(seed);
        this.originals = originals;
    }

    /** Answers of a real API server that are short enough for a fault to be likely in each part. */
    public static Stream<Recording> recorded() {
        return Recording.all().stream()
                .filter(line -> line.protobuf().length > 0 && line.protobuf().length < LONGEST)
                .filter(line -> !line.isWatch());
    }

    /** Breaks a response, mostly behind the prefix, which any change breaks. */
    public byte[] next() {
        byte[] original = originals.get(random.nextInt(originals.size()));
        byte[] bytes = original.clone();
        int at = 4 + random.nextInt(bytes.length - 4);
        switch (random.nextInt(5)) {
            case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bytes[at] = (byte) random.nextInt(256);
            case 2 -> bytes = Arrays.copyOf(bytes, at);
            case 3 -> Arrays.fill(bytes, at, Math.min(bytes.length, at + 12), (byte) 0xff);
            default -> {
                int from = random.nextInt(bytes.length);
                int count = Math.min(16, bytes.length - Math.max(from, at));
                System.arraycopy(original, from, bytes, at, count);
            }
        }
        return bytes;
    }
}
