// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import java.nio.ByteBuffer;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * A file: its pages in the cache, the durable part of them, and the changes since the last sync.
 *
 * <p>A power failure leaves each sector as it was after any of these changes, and the length likewise: the kernel may
 * write pages back at any time.
 */
final class RegularFile extends Node {

    static final int SECTOR = 512;
    static final int PAGE = 4096;
    /** The number of changes that a cache holds; the kernel writes older ones back. */
    static final int CACHED = 256;

    private final List<Change> changes = new ArrayList<>();
    private final BitSet lost = new BitSet(); // sectors whose sync failed
    private byte[] cached = new byte[0];
    private byte[] durable = new byte[0];
    private int length;
    private int durableLength;

    RegularFile(int inode, boolean isTemporary, int permissions, FileTime modified) {
        super(inode, isTemporary, permissions, modified);
    }

    /** Bytes that were written, or zeros if the file was truncated, and the file's length afterwards. */
    private record Change(int position, byte[] bytes, int length) {

        boolean isCut() {
            return length == position;
        }

        int first(int unit) {
            return position / unit;
        }

        int last(int unit) {
            return (position + bytes.length - 1) / unit;
        }

        void copyTo(byte[] content, int from, int to) {
            int start = Math.max(from, position);
            int end = Math.min(to, position + bytes.length);
            System.arraycopy(bytes, start - position, content, start, end - start);
        }
    }

    int length() {
        return length;
    }

    byte[] durable() {
        return Arrays.copyOf(durable, durableLength);
    }

    int unsynced() {
        return changes.size() + lost.cardinality();
    }

    @Override
    long space() {
        return isTemporary ? 0 : (length + PAGE - 1) / PAGE * PAGE;
    }

    void read(ByteBuffer to, int position, int count) {
        to.put(cached, position, count);
    }

    void write(int position, byte[] bytes) {
        if (bytes.length > 0) {
            change(new Change(position, bytes, Math.max(length, position + bytes.length)));
        }
    }

    void truncate(int to) {
        if (to < length) {
            change(new Change(to, new byte[length - to], to));
        }
    }

    private void change(Change change) {
        cached = holding(cached, change.position + change.bytes.length);
        change.copyTo(cached, 0, cached.length);
        length = change.length;
        if (!isTemporary) {
            changes.add(change);
            if (changes.size() > CACHED) {
                writeBack(changes.remove(0));
            }
        }
    }

    private static byte[] holding(byte[] content, int size) {
        int pages = (size + PAGE - 1) / PAGE;
        return size <= content.length ? content : Arrays.copyOf(content, Math.max(content.length * 2, pages * PAGE));
    }

    /** Writes whole pages, with their current content. */
    private void writeBack(Change change) {
        int from = change.first(PAGE) * PAGE;
        int to = (change.last(PAGE) + 1) * PAGE;
        durable = holding(durable, to);
        System.arraycopy(cached, from, durable, from, to - from);
        durableLength = change.length;
        lost.clear(from / SECTOR, to / SECTOR);
    }

    void sync() {
        changes.forEach(this::writeBack);
        changes.clear();
        durableLength = length;
    }

    /** Drops the unwritten changes, as Linux does: a later sync that succeeds does not write them. */
    void failToSync() {
        changes.forEach(change -> lost.set(change.first(SECTOR), change.last(SECTOR) + 1));
        changes.clear();
    }

    void losePower(RandomGenerator random) {
        if (unsynced() == 0) {
            return;
        }
        int lengths = cut(random, changes.size());
        int kept = lengths == 0 ? durableLength : changes.get(lengths - 1).length;
        durable = holding(durable, cached.length);
        if (!lost.isEmpty()) {
            kept = random.nextBoolean() ? length : kept;
            keepLost(random);
        }
        keep(lengths, random.nextBoolean(), random);
        Arrays.fill(durable, kept, durable.length, (byte) 0);
        durableLength = kept;
        changes.clear();
        lost.clear();
        cached = durable.clone();
        length = kept;
    }

    /** Keeps the changes that lead to the length; if the file is torn, different ones for each sector. */
    private void keep(int lengths, boolean isTorn, RandomGenerator random) {
        Map<Integer, Integer> cuts = new HashMap<>();
        for (int i = 0; i < changes.size(); i++) {
            Change change = changes.get(i);
            if (change.isCut() && i >= lengths) {
                return; // the rest is in blocks that the file then does not have
            }
            for (int sector = change.first(SECTOR); sector <= change.last(SECTOR); sector++) {
                boolean isDrawn = isTorn && !change.isCut();
                int count = isDrawn ? cuts.computeIfAbsent(sector, any -> cut(random, changes.size())) : lengths;
                if (i < count) {
                    change.copyTo(durable, sector * SECTOR, (sector + 1) * SECTOR);
                }
            }
        }
    }

    private void keepLost(RandomGenerator random) {
        lost.stream()
                .filter(sector -> random.nextBoolean())
                .forEach(sector -> System.arraycopy(cached, sector * SECTOR, durable, sector * SECTOR, SECTOR));
    }

    /** Draws how many of the changes survive: none, all, or a random number, with equal probability. */
    static int cut(RandomGenerator random, int count) {
        return switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 -> count;
            default -> random.nextInt(count + 1);
        };
    }
}
