// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * A container that is about to start, and the hook program of the jar.
 *
 * @param folder where both are
 */
record ContainerUnderTest(Path folder) {

    private static final String NOBODY = "65534";
    private static final String READ_ONLY = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro / && ";

    /**
     * A process that has ended.
     *
     * @param status its exit status
     * @param errors its standard error
     */
    record Ended(int status, String errors) {}

    /** Makes the container's bundle, like containerd. */
    static ContainerUnderTest create(Path folder) throws IOException {
        ContainerUnderTest container = new ContainerUnderTest(folder);
        Files.createDirectories(container.root());
        container.configure("{\"root\": {\"path\": \"rootfs\"}, \"hooks\": {}}");
        HookProgram.install(folder.resolve("image"), folder.resolve("plugin"));
        return container;
    }

    Path bundle() {
        return folder.resolve("bundle");
    }

    Path root() {
        return bundle().resolve("rootfs");
    }

    Path program() {
        return folder.resolve("plugin/nvidia-cdi-hook");
    }

    /** Writes the container's configuration. */
    void configure(String json) throws IOException {
        Files.writeString(bundle().resolve("config.json"), json);
    }

    /** Makes a directory in the container's root. */
    Path directory(String path) throws IOException {
        return Files.createDirectories(root().resolve(path));
    }

    /** Makes a link in the container's root. */
    Path link(String path, String target) throws IOException {
        Files.createDirectories(root().resolve(path).getParent());
        return Files.createSymbolicLink(root().resolve(path), Path.of(target));
    }

    /** Runs the hook program for the container. */
    Ended run(String... args) throws Exception {
        return runOn(state(), args);
    }

    /** Runs the hook program with a state of the container's. */
    Ended runOn(String state, String... args) throws Exception {
        return run(state, "exec \"$@\"", args);
    }

    /** Runs the hook program for the container, once procfs is mounted in it; needs root. */
    Ended runWithProcfs(String... args) throws Exception {
        return run(state(), "mount -t proc proc " + root() + "/proc && exec \"$@\"", args);
    }

    /** Runs the hook program for the container, whose root is read-only; needs root. */
    Ended runReadOnly(String... args) throws Exception {
        String root = root().toString();
        return run(
                state(),
                "mount --bind %s %s && mount -o remount,bind,ro %s && exec \"$@\"".formatted(root, root, root),
                args);
    }

    /** Runs the hook program for the container, which another user has; needs root. */
    Ended runAsNobody(String... args) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        end(List.of("chown", "-R", NOBODY, bundle().toString()), "");
        String script = "exec setpriv --reuid=%s --regid=%s --clear-groups \"$@\"".formatted(NOBODY, NOBODY);
        return run(state(), script, args);
    }

    /**
     * Runs a script that runs the program. Root can change nothing but the folder of the test: a
     * program that leaves the container's root would do harm to this machine.
     */
    private Ended run(String state, String script, String... args) throws Exception {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("unshare", "-m", "sh", "-c", READ_ONLY + script));
            requireNamespace();
        } else {
            command.addAll(List.of("sh", "-c", script));
        }
        command.add(folder.toString());
        command.add(program().toString());
        command.addAll(List.of(args));
        return end(command, state);
    }

    private void requireNamespace() throws Exception {
        List<String> command = List.of("unshare", "-m", "sh", "-c", READ_ONLY + "true", folder.toString());
        Ended possible = end(command, "");
        assumeTrue(possible.status() == 0, "root has no mount namespace to protect this machine: " + possible.errors());
    }

    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    /** Returns the state that a runtime passes to a hook. */
    String state() {
        return "{\"ociVersion\": \"1.0.2\", \"bundle\": \"" + bundle() + "\"}";
    }

    private Ended end(List<String> command, String state) throws Exception {
        Path input = Files.writeString(folder.resolve("state.json"), state);
        Path errors = folder.resolve("errors");
        Process process = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(errors.toFile())
                .start();
        return new Ended(process.waitFor(), Files.readString(errors));
    }
}
