// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;

/**
 * An image that was unpacked into an empty folder, in which programs run as in a container: this
 * folder is their root and can't be written, and they have the image's user and environment. Beside
 * it they find /proc, /dev and the folders that a test gives them.
 */
final class Container {

    private static final Path SCRIPTS =
            Path.of("src/test/resources/io/dra4j/images").toAbsolutePath();

    private final Path root;
    private final Unpacked image;

    private Container(Path root, Unpacked image) {
        this.root = root;
        this.image = image;
    }

    /** Unpacks an archive. */
    static Container unpack(Path archive, Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.setAttribute(folder, "unix:mode", 0755);
        Unpacked image = Unpacked.of(archive, (entry, content) -> write(folder, entry, content));
        return new Container(folder, image);
    }

    /** Lets an emulator run its programs. */
    Container emulated(Path emulator) {
        assumeTrue(
                Files.isExecutable(emulator),
                "Images of another architecture were not tested: install Debian's qemu-user-static for " + emulator);
        Tool.output(List.of("bash", SCRIPTS.resolve("emulate").toString(), root.toString(), emulator.toString()));
        return this;
    }

    /** An option by which the JVM ends where it cannot use the AOT cache of the image, if that has one. */
    String cacheOnly() {
        boolean hasCache =
                config().path("Labels").path("io.dra4j.image.aot-cache").asBoolean();
        return hasCache ? "-XX:AOTMode=on" : "";
    }

    private static void write(Path folder, TarArchiveEntry entry, InputStream content) throws IOException {
        Path file = folder.resolve(entry.getName()).normalize();
        if (!file.startsWith(folder)) {
            throw new IOException("a path that leads out of the image: " + entry.getName());
        }
        if (entry.isDirectory()) {
            Files.createDirectories(file);
        } else if (entry.isFile()) {
            Files.copy(content, file);
            Files.setLastModifiedTime(
                    file, FileTime.from(entry.getLastModifiedDate().toInstant()));
        } else {
            throw new IOException("neither a file nor a folder: " + entry.getName());
        }
        Files.setAttribute(file, "unix:mode", entry.getMode());
        Files.setAttribute(file, "unix:uid", Math.toIntExact(entry.getLongUserId()));
        Files.setAttribute(file, "unix:gid", Math.toIntExact(entry.getLongGroupId()));
    }

    private JsonNode config() {
        return image.config().get("config");
    }

    /**
     * The command that runs another in a container.
     *
     * @param folders what it finds at the same path as here, or as SOURCE=PATH elsewhere; with colons between them
     * @param environment its environment, in addition to that of the image
     */
    List<String> command(String folders, Map<String, String> environment, List<String> command) {
        List<String> words = new ArrayList<>();
        words.addAll(List.of("unshare", "--mount", "--propagation", "private"));
        words.addAll(List.of("env", "-i"));
        config().get("Env").forEach(variable -> words.add(variable.asText()));
        environment.forEach((name, value) -> words.add(name + "=" + value));
        words.addAll(List.of("bash", SCRIPTS.resolve("enter").toString(), root.toString()));
        words.add(config().get("User").asText());
        words.add("/proc:/dev" + (folders.isEmpty() ? "" : ":" + folders));
        words.addAll(command);
        return words;
    }

    /** The command that runs the image's entry point as a driver of a node of the test kit. */
    List<String> driver(String folders, Map<String, String> environment, List<String> command) {
        Map<String, String> all = new HashMap<>(environment);
        for (String name : List.of(
                "NODE_NAME",
                "DRIVER_NAME",
                "KUBECONFIG",
                "CDI_ROOT",
                "KUBELET_PLUGINS_DIRECTORY_PATH",
                "KUBELET_REGISTRAR_DIRECTORY_PATH")) {
            all.put(name, "{" + name + "}");
        }
        return command(folders.isEmpty() ? "{ROOT}" : "{ROOT}:" + folders, all, command);
    }

    /** Starts a command of the image; its errors come with its output. */
    Process start(String folders, Map<String, String> environment, String... command) throws IOException {
        Process process = new ProcessBuilder(command(folders, environment, List.of(command)))
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        return process;
    }

    /** Runs a command of the image to its end, and returns its status and what it printed. */
    Ended run(Map<String, String> environment, String... command) throws IOException, InterruptedException {
        Process process = start("", environment, command);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }

    /** The end of a command. */
    record Ended(int status, String output) {}

    /** The image's entry point. */
    String entryPoint() {
        return config().get("Entrypoint").get(0).asText();
    }
}
