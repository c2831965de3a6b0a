// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Builds images. Their layers are staged as folders, those that change least first, and written as archives.
 *
 * <p>The same inputs give the same archive, except for the layer of the AOT cache, which the JVM writes differently
 * each time.
 */
final class ImageBuild {

    private static final String OURS = "dra4j";

    private final Inputs inputs;
    private final Debian debian;
    private final Machine machine;
    private final Jdk jdk;
    private final Path folder;
    private final Stage java;
    private final Base base;
    private final Map<Image, Jars> images = new LinkedHashMap<>();
    private final Set<Path> shared;

    /** Prepares the common parts of the images: this repository's, or that of the driver whose jar is given. */
    ImageBuild(Inputs inputs, Machine machine) {
        this.inputs = inputs;
        this.machine = machine;
        inputs.jar()
                .ifPresentOrElse(
                        jar -> images.put(Image.ofVendor(inputs, jar), Jars.ofVendor(inputs, jar)),
                        () -> Image.IMAGES.forEach(image -> images.put(image, Jars.of(inputs, image))));
        Jdk linker = Jdk.find(inputs.jdk(), System.getenv());
        folder = Folders.make(inputs.target().resolve("stage").resolve(machine.architecture()));
        debian = Debian.of(machine, folder.resolve("debian"));
        jdk = debian.isHere() ? linker : Jdk.of(debian);
        // Jib considers layers equal if their files have the same paths and times.
        Folders.remove(folder.resolve("cache"));
        java = stageJdk(linker);
        base = Base.of(inputs, debian, java.file(Image.JDK), folder.resolve("base"));
        shared = new HashSet<>(images.values().iterator().next().foreign());
        images.values().forEach(jars -> shared.retainAll(jars.foreign()));
    }

    Set<Image> images() {
        return images.keySet();
    }

    private Jars jars(Image image) {
        return Objects.requireNonNull(images.get(image));
    }

    private Stage stageJdk(Jdk linker) {
        Path linked = folder.resolve("jlink");
        Folders.remove(linked);
        jdk.link(linked, inputs.words("modules"), linker);
        Stage stage = Stage.at(folder, "jdk", inputs.time());
        stage.copyTree(linked, Image.JDK);
        Folders.remove(linked);
        return stage;
    }

    /** Writes an image with a new AOT cache, or without one if its JVM does not run on the build machine. */
    Path write(Image image) {
        Jars jars = jars(image);
        List<String> jvm = jvm();
        List<Stage> layers = stage(image, jars, !jvm.isEmpty());
        if (jvm.isEmpty()) {
            return write(image, layers, null);
        }
        Path training = folder.resolve(image.name()).resolve("training");
        return write(image, layers, Training.in(training, jvm, machine, layers).cache(image, jars));
    }

    /** The command that starts the JVM of the images on the build machine; empty if it does not run here. */
    private List<String> jvm() {
        String program = java.file(Image.JDK + "/bin/java").toString();
        if (debian.isHere()) {
            return List.of(program);
        }
        String libraries = debian.root().toString();
        return inputs.given("emulator")
                .map(emulator -> List.of(emulator, "-L", libraries, program))
                .orElse(List.of());
    }

    /** Writes an image with an existing AOT cache. */
    Path write(Image image, Path cache) {
        return write(image, stage(image, jars(image), true), cache);
    }

    private Path write(Image image, List<Stage> layers, @Nullable Path cache) {
        JibContainerBuilder builder = base.builder();
        layers.forEach(layer -> builder.addFileEntriesLayer(layer.layer()));
        if (cache != null) {
            Stage trained = Stage.at(folder.resolve(image.name()), "aot-cache", inputs.time());
            trained.copy(cache, image.cache());
            builder.addFileEntriesLayer(trained.layer());
        }
        builder.addFileEntriesLayer(temporary(image));
        builder.setEntrypoint("/usr/bin/" + image.entryPoint().command())
                .setUser(image.user())
                .setCreationTime(inputs.time())
                .addEnvironmentVariable("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
                .addEnvironmentVariable("LANG", "C.UTF-8")
                // glibc returns freed memory at once. The JVM's TrimNativeHeapInterval would need a thread for that.
                .addEnvironmentVariable("MALLOC_ARENA_MAX", "2")
                .addEnvironmentVariable("MALLOC_TRIM_THRESHOLD_", "65536")
                .setLabels(labels(image, cache != null));
        String name = "%s-%s-%s".formatted(image.name(), inputs.version(), machine.architecture());
        Path written = Folders.make(inputs.images());
        Path archive = written.resolve(name + ".tar");
        Archive.write(builder, archive, "localhost/" + image.name() + ":" + inputs.version(), folder.resolve("cache"));
        Folders.copy(sbom(image), written.resolve(name + ".cdx.json"));
        return archive;
    }

    private Path sbom(Image image) {
        return folder.resolve(image.name()).resolve(OURS).resolve(Sbom.PATH.substring(1));
    }

    /** The layers of an image above its base, without the AOT cache. */
    private List<Stage> stage(Image image, Jars jars, boolean hasCache) {
        Path own = folder.resolve(image.name());
        Stage common = Stage.at(own, "dependencies", inputs.time());
        Stage special = Stage.at(own, "dependencies-of-program", inputs.time());
        for (Path jar : jars.foreign()) {
            Stage stage = shared.contains(jar) ? common : special;
            String path = Image.JARS + "/" + jar.getFileName();
            if (Picocli.isIn(jar)) {
                stage.write(path, Picocli.converted(jar), false);
            } else {
                stage.copy(jar, path);
            }
        }
        jars.extract("META-INF/native/" + machine.netty(), special, Image.NATIVE + "/" + machine.netty());
        jars.extract(
                "com/sun/jna/" + machine.jna() + "/libjnidispatch.so", special, Image.NATIVE + "/libjnidispatch.so");
        Stage ours = Stage.at(own, OURS, inputs.time());
        for (Path jar : jars.ours()) {
            ours.copy(jar, Image.JARS + "/" + jar.getFileName());
        }
        stagePrograms(image, jars, ours, hasCache);
        byte[] sbom = Sbom.of(inputs, image, jars, base, jdk);
        ours.write(Sbom.PATH, sbom, false);
        List<Stage> layers = new ArrayList<>(List.of(java, common));
        if (!special.layer().getEntries().isEmpty()) {
            layers.add(special);
        }
        layers.add(ours);
        Stream.concat(base.layers().stream(), layers.stream()).forEach(layer -> Elf.require(machine, layer));
        return layers;
    }

    private void stagePrograms(Image image, Jars jars, Stage stage, boolean hasCache) {
        for (Image.Program program : image.programs()) {
            if (!jars.has(program.main())) {
                throw new ImageBuildException(
                        "%s has no class %s, which %s is to start".formatted(image, program.main(), program.command()));
            }
            String script = launcher(image, program, jars, hasCache);
            stage.write("/usr/bin/" + program.command(), script.getBytes(StandardCharsets.UTF_8), true);
        }
        for (String name : image.scripts()) {
            stage.write("/usr/bin/" + name, Folders.packaged(name).getBytes(StandardCharsets.UTF_8), true);
        }
    }

    /** The file in {@code /usr/bin} that starts a program, by exec, so that no shell remains. */
    private static String launcher(Image image, Image.Program program, Jars jars, boolean hasCache) {
        return """
        #!/usr/bin/bash
        # %s. SIGUSR2 is reserved for the program, so the JVM stops threads with another signal. JAVA_OPTS may contain more JVM options; with some of them, it starts without its AOT cache, and more slowly.
        _JAVA_SR_SIGNUM=16 exec %s/bin/java %s \\
          %s \\
          $JAVA_OPTS \\
          -cp %s \\
          %s "$@"
        """.formatted(
                        image.description(),
                        Image.JDK,
                        hasCache ? "-XX:AOTCache=" + image.cache() : "",
                        image.jvmOptions().stream().map(ImageBuild::quoted).collect(Collectors.joining(" ")),
                        quoted(jars.classPath(Image.JARS)),
                        program.main());
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    /** A folder for temporary files, which belongs to the image's user and to root's group. */
    private FileEntriesLayer temporary(Image image) {
        return FileEntriesLayer.builder()
                .setName("tmp")
                .addEntry(
                        Folders.make(folder.resolve("tmp")),
                        AbsoluteUnixPath.get("/tmp"),
                        FilePermissions.fromOctalString("770"),
                        inputs.time(),
                        image.user())
                .build();
    }

    /** The commit, if there is a repository and Git is installed. */
    private Optional<String> revision() {
        return Files.exists(inputs.repository().resolve(".git"))
                ? Tool.tried(List.of("git", "-C", inputs.repository().toString(), "rev-parse", "HEAD"))
                : Optional.empty();
    }

    private Map<String, String> labels(Image image, boolean hasCache) {
        Map<String, String> labels = new LinkedHashMap<>();
        String prefix = "org.opencontainers.image.";
        labels.put(prefix + "title", image.title());
        labels.put(prefix + "description", image.description());
        labels.put(prefix + "version", inputs.version());
        labels.put("io.dra4j.image.aot-cache", String.valueOf(hasCache));
        image.licenses().ifPresent(licenses -> labels.put(prefix + "licenses", licenses));
        revision().ifPresent(commit -> labels.put(prefix + "revision", commit));
        return labels;
    }

    /**
     * Creates an AOT cache. A program runs as on a node, the JVM records what it loads, and a second JVM writes the cache.
     *
     * <p>The JVM compares the options, the jars' names, sizes and times, and the JDK, but not the folder of the jars.
     *
     * @param java the command that starts the JVM of the image
     * @param folder a folder for the results; the jars of the image are in {@code lib}
     */
    private record Training(List<String> java, Machine machine, Path folder) {

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
                command.add(
                        option.replace(Image.NATIVE, folder.resolve("native").toString()));
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
}
