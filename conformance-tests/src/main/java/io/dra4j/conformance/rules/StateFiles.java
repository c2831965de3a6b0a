// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.NotApplicable;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The files in which a driver remembers claims, as the settings name them. */
final class StateFiles {

    private final Map<Path, byte[]> before;

    private StateFiles(Map<Path, byte[]> before) {
        this.before = before;
    }

    /**
     * Finds the files, and keeps what is in them.
     *
     * @throws NotApplicable if there are none
     */
    static StateFiles of(Bench bench) throws IOException {
        String glob = bench.place().fill(bench.settings().driver().stateFiles());
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
        Map<Path, byte[]> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(top(glob))) {
            for (Path file : all.filter(matcher::matches).filter(Files::isRegularFile).toList()) {
                files.put(file, Files.readAllBytes(file));
            }
        }
        NotApplicable.unless(!files.isEmpty(), "no state file matches %s", glob);
        return new StateFiles(files);
    }

    /** The deepest directory that is named without a wildcard. */
    private static Path top(String glob) {
        int wildcard = glob.replaceAll("[*?\\[{]", "*").indexOf('*');
        Path fixed = Path.of(wildcard < 0 ? glob : glob.substring(0, wildcard) + "x");
        Path parent = fixed.toAbsolutePath().getParent();
        NotApplicable.unless(
                parent != null && Files.isDirectory(parent), "no state file matches %s", glob);
        return parent;
    }

    List<Path> paths() {
        return List.copyOf(before.keySet());
    }

    /** What can happen to a file. */
    enum Damage {
        EMPTIED("was emptied") {
            @Override
            byte[] of(byte[] content) {
                return new byte[0];
            }
        },
        CUT("was truncated") {
            @Override
            byte[] of(byte[] content) {
                return Arrays.copyOf(content, content.length * 2 / 3);
            }
        },
        GARBAGE("was overwritten with garbage") {
            @Override
            byte[] of(byte[] content) {
                byte[] garbage = new byte[content.length];
                Arrays.fill(garbage, (byte) 0xA5);
                return garbage;
            }
        };

        private final String words;

        Damage(String words) {
            this.words = words;
        }

        abstract byte[] of(byte[] content);

        /** What has happened, for a sentence about the file. */
        String words() {
            return words;
        }
    }

    void damage(Damage damage) throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Files.write(file.getKey(), damage.of(file.getValue()));
        }
    }

    /** Puts back what was in them. */
    void restore() throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Files.write(file.getKey(), file.getValue());
        }
    }

    /** Whether they are as they were. */
    boolean areUnchanged() throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            if (!Files.exists(file.getKey())
                    || !Arrays.equals(Files.readAllBytes(file.getKey()), file.getValue())) {
                return false;
            }
        }
        return true;
    }
}
