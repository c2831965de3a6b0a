// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The files in which a driver remembers claims, as the settings name them. */
public final class StateFiles {

    private final Map<Path, byte[]> before;

    private StateFiles(Map<Path, byte[]> before) {
        this.before = before;
    }

    /**
     * Finds the files, and saves their content.
     *
     * @throws Untested if there are none
     */
    public static StateFiles of(TestContext context) throws IOException {
        String setting = context.settings().driver().stateFiles();
        Map<Path, byte[]> files = new TreeMap<>();
        for (Path file : Globs.matching(context, setting)) {
            if (Files.isRegularFile(file)) {
                files.put(file, Files.readAllBytes(file));
            }
        }
        Untested.unless(
                !files.isEmpty(), "no state file matches driver.stateFiles, %s", Globs.onHost(context, setting));
        return new StateFiles(files);
    }

    public List<Path> paths() {
        return List.copyOf(before.keySet());
    }

    /** A kind of damage to a file. */
    public enum Damage {
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

        /** The damage, for a sentence about the file. */
        public String words() {
            return words;
        }
    }

    public void damage(Damage damage) throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Files.write(file.getKey(), damage.of(file.getValue()));
        }
    }

    /** Restores their content. */
    public void restore() throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Files.write(file.getKey(), file.getValue());
        }
    }

    public boolean areUnchanged() throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            if (!Files.exists(file.getKey()) || !Arrays.equals(Files.readAllBytes(file.getKey()), file.getValue())) {
                return false;
            }
        }
        return true;
    }
}
