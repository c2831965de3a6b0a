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
import java.util.function.UnaryOperator;

/** The files in which a driver remembers claims, as the settings name them. */
public record StateFiles(Map<Path, byte[]> before) {

    /** Finds the files, and saves their content; Untested if there are none. */
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

    public enum Damage {
        EMPTIED("was emptied", content -> new byte[0]),
        CUT("was truncated", content -> Arrays.copyOf(content, content.length * 2 / 3)),
        GARBAGE("was overwritten with garbage", Damage::garbage);

        private final String words;
        private final UnaryOperator<byte[]> change;

        Damage(String words, UnaryOperator<byte[]> change) {
            this.words = words;
            this.change = change;
        }

        private static byte[] garbage(byte[] content) {
            byte[] garbage = new byte[content.length];
            Arrays.fill(garbage, (byte) 0xA5);
            return garbage;
        }

        /** The damage, for a sentence about the file. */
        public String words() {
            return words;
        }
    }

    public void damage(Damage damage) throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Files.write(file.getKey(), damage.change.apply(file.getValue()));
        }
    }

    /** Restores the files that are as they were damaged. */
    public void repair(Damage damage) throws IOException {
        for (Map.Entry<Path, byte[]> file : before.entrySet()) {
            Path path = file.getKey();
            if (Files.exists(path) && Arrays.equals(Files.readAllBytes(path), damage.change.apply(file.getValue()))) {
                Files.write(path, file.getValue());
            }
        }
    }

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
