// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The fabric manager of a node with NVSwitches, and its library.
 *
 * @param library the library; the fabric manager is a text in its folder
 */
public record FabricStandIn(Path library) {

    /** Installs it, with a library of those that are built, for eight GPUs; it runs. */
    public static FabricStandIn install(StandInNode node, String built) throws IOException {
        FabricStandIn installed = new FabricStandIn(node.library("libnvfm.so.1"));
        Files.copy(StandInNode.BUILT.resolve(built), installed.library);
        Files.writeString(installed.path(".manager"), StandInNode.text("standin/fabric.txt"));
        Path nvswitch = Files.createDirectories(node.sysfs().resolve("bus/pci/devices/0000:c0:00.0"));
        for (String file : List.of("vendor 0x10de", "device 0x22a3", "class 0x068000")) {
            Files.writeString(nvswitch.resolve(file.split(" ")[0]), file.split(" ")[1] + "\n");
        }
        return installed;
    }

    private Path path(String suffix) {
        return Path.of(library + suffix);
    }

    /** Replaces a part of what the fabric manager is. */
    public void edit(String pattern, String by) throws IOException {
        String text = Files.readString(path(".manager"));
        Files.writeString(path(".manager"), text.replaceAll(pattern, by));
    }

    /** Starts it as another process, which has no partition active; 0 stops it. */
    public void run(int process) throws IOException {
        edit("run .*", "run " + process);
        edit("(partition \\d+) 1 ", "$1 0 ");
    }

    /** Returns the numbers of the active partitions. */
    public List<Integer> active() throws IOException {
        return Files.readAllLines(path(".manager")).stream()
                .filter(line -> line.matches("partition \\d+ 1 .*"))
                .map(line -> Integer.valueOf(line.split(" ")[1]))
                .toList();
    }

    /** Returns the calls that connected, and those that changed partitions. */
    public List<String> calls() throws IOException {
        return Files.readAllLines(path(".calls"));
    }
}
