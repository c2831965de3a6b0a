// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A JVM that hosts the drivers of many nodes, for another process that measures it.
 *
 * <p>It does what it is told on standard input, a line each, and answers each with a line: {@code
 * start N} starts drivers until there are N, and {@code heap} collects garbage and answers with the
 * bytes that are left. It ends with its input, also when the other process is killed, and leaves
 * the directories to that.
 */
public final class NodesMain {

    /** The name of all drivers. */
    public static final String DRIVER = "hosted.example.com";

    /** The answer to {@code start}. */
    public static final String STARTED = "started";

    private static final String NODE = "node-";

    private NodesMain() {}

    /**
     * The command that starts it.
     *
     * @param kubeconfig the way to the API server, which has {@link #nodes} already
     * @param registry a kubelet's registry
     * @param folders where each node gets a directory; on the registry's file system
     * @param devices how many devices each node has
     */
    public static List<String> command(Path kubeconfig, Path registry, Path folders, int devices) {
        List<String> options = new ArrayList<>(JavaProgram.SHORT_LIVED);
        options.add("-Xmn8m"); // new objects of one driver or of all: as much resident memory
        options.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        List<String> command = new ArrayList<>(
                new JavaProgram(registry, options, JavaProgram.ownClassPath(), NodesMain.class.getName()).command());
        command.addAll(
                List.of(kubeconfig.toString(), registry.toString(), folders.toString(), Integer.toString(devices)));
        return command;
    }

    /** The names of so many nodes. */
    public static List<String> nodes(int number) {
        return IntStream.range(0, number).mapToObj(i -> NODE + i).toList();
    }

    /** Hosts drivers as told by {@link #command}. */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err); // nothing else may get between them
        HostedNodes nodes =
                new HostedNodes(Path.of(args[0]), Path.of(args[1]), Path.of(args[2]), Integer.parseInt(args[3]));
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = told.readLine();
        while (line != null) {
            answers.println(line.equals("heap") ? heap() : start(nodes, line));
            answers.flush();
            line = told.readLine();
        }
        System.exit(0); // drivers leave nothing but their directories
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static String start(HostedNodes nodes, String line) {
        try {
            nodes.start(nodes(Integer.parseInt(line.substring("start ".length()))));
            return STARTED;
        } catch (DriverUnusable e) {
            return String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }
}
