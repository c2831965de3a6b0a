// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Creates an AOT cache. A program runs as on a node, the JVM records what it loads, and a second JVM writes the cache.
 *
 * <p>The JVM compares the options, the jars' names, sizes and times, and the JDK, but not the folder of the jars.
 *
 * @param java the command that starts the JVM of the image
 * @param folder a folder for the results; the jars of the image are in {@code lib}
 */
record Training(List<String> java, Machine machine, Path folder) {

    Path cache(Image image, Jars jars) {
        String classPath = jars.classPath(folder.resolve("lib").toString());
        Path recorded = folder.resolve("recorded");
        List<String> run = new ArrayList<>(jvm(image));
        run.addAll(List.of("-XX:AOTMode=record", "-XX:AOTConfiguration=" + recorded));
        run.addAll(List.of("-cp", classPath, image.entryPoint().main()));
        if (image.equals(Image.NVIDIA_DRIVER)) {
            StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
            if (!machine.equals(Machine.current())) {
                node.useLibraryOf(machine.architecture());
            }
            run.add("--nvidia-driver-root=" + node.root());
            run.add("--sysfs-root=" + node.sysfs());
            run.add("--proc-root=" + node.proc());
        }
        run.addAll(image.training());
        if (image.driver().isEmpty()) {
            Tool.output(run);
        } else {
            DriverLife.runInCluster(image.driver(), run);
        }
        Path cache = folder.resolve("aot");
        List<String> create = new ArrayList<>(jvm(image));
        create.addAll(List.of("-XX:AOTMode=create", "-XX:AOTConfiguration=" + recorded));
        create.addAll(List.of("-XX:AOTCache=" + cache, "-cp", classPath));
        String said = Tool.output(create);
        if (!Files.exists(cache)) {
            throw new ImageBuildException("The JVM created no AOT cache: " + said);
        }
        return cache;
    }

    private List<String> jvm(Image image) {
        List<String> command = new ArrayList<>(java);
        for (String option : image.jvmOptions()) {
            command.add(option.replace(Image.NATIVE, folder.resolve("native").toString()));
        }
        return command;
    }

    /** A folder with an image's libraries and its jars, with the same times as in the image. */
    static Training in(Path folder, List<String> java, Machine machine, List<Stage> stages) {
        Folders.remove(folder);
        for (Stage stage : stages) {
            link(stage.file(Image.JARS), Folders.make(folder.resolve("lib")));
            link(stage.file(Image.NATIVE), Folders.make(folder.resolve("native")));
        }
        return new Training(java, machine, folder);
    }

    private static void link(Path from, Path to) {
        if (!Files.isDirectory(from)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(from)) {
            for (Path file : files) {
                Files.createLink(to.resolve(file.getFileName()), file);
            }
        } catch (IOException e) {
            throw new ImageBuildException("Can't link the files of " + from + ": " + e, e);
        }
    }
}
