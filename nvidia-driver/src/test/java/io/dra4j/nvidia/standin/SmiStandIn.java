// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A stand-in of {@code nvidia-smi}, which has one setting of each kind for each GPU. */
public final class SmiStandIn extends ProgramStandIn {

    private SmiStandIn(StandInNode node) throws IOException {
        super(node, "nvidia-smi", StandInNode.text("standin/smi.sh"));
    }

    /** Installs it on a node. */
    public static SmiStandIn install(StandInNode node) throws IOException {
        return new SmiStandIn(node);
    }

    /** Returns what was preloaded in the last call. */
    public String preloaded() throws IOException {
        return Files.readString(folder().resolve("preload")).strip();
    }

    /** Returns the time slices of a GPU as their number; 0 if none were ever set. */
    public int slice(String gpu) throws IOException {
        Path file = folder().resolve("slice-" + gpu);
        return Files.exists(file) ? Integer.parseInt(Files.readString(file).strip()) : 0;
    }

    /** Returns the compute mode of a GPU. */
    public String mode(String gpu) throws IOException {
        Path file = folder().resolve("mode-" + gpu);
        return Files.exists(file) ? Files.readString(file).strip() : "DEFAULT";
    }

    /** Answers each question for a compute mode. */
    public void answer(String text) throws IOException {
        Files.writeString(folder().resolve("answer"), text);
    }

    /** Sets the time slices of a GPU by their number, as an administrator does. */
    public void setSlice(String gpu, int number) throws IOException {
        Files.writeString(folder().resolve("slice-" + gpu), number + "\n");
    }

    /** Sets the compute mode of a GPU, as an administrator does. */
    public void setMode(String gpu, String mode) throws IOException {
        Files.writeString(folder().resolve("mode-" + gpu), mode);
    }

    /** Lets a GPU stay initialized without users, by its PCI address; the answer has a warning. */
    public void setPersistent(String gpu) throws IOException {
        Files.writeString(
                folder().resolve("persistence-" + gpu), "Enabled\nWARNING: infoROM is corrupted at gpu 0000:01:00.0\n");
    }

    /** Returns whether a GPU stays so, by its PCI address. */
    public boolean isPersistent(String gpu) throws IOException {
        Path file = folder().resolve("persistence-" + gpu);
        return Files.exists(file) && Files.readString(file).startsWith("Enabled");
    }
}
