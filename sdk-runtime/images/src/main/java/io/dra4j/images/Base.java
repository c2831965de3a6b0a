// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.google.cloud.tools.jib.api.Credential;
import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.RegistryImage;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import com.google.cloud.tools.jib.api.buildplan.Platform;
import com.google.cloud.tools.jib.registry.credentials.CredentialRetrievalException;
import com.google.cloud.tools.jib.registry.credentials.DockerConfigCredentialRetriever;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The base of the images.
 *
 * @param archive the base as an archive in Docker's layout; null for an image made only of layers
 * @param layers our layers that belong to it
 * @param packages Debian's packages of these layers
 */
record Base(Debian debian, @Nullable Path archive, List<Stage> layers, Set<String> packages) {

    private static final String PACKAGES = "packages";
    private static final String TAR = "tar:";

    /** Files of a JDK without which no program starts; those of a desktop may lack their libraries. */
    private static final Set<String> CORE = Set.of(
            "java",
            "libjli.so",
            "libjvm.so",
            "libjava.so",
            "libjimage.so",
            "libzip.so",
            "libnet.so",
            "libnio.so",
            "libverify.so");

    private static final Pattern LIBC = Pattern.compile("/libc(-2\\.\\d+\\.so|\\.so\\.6)$");

    static Base of(Inputs inputs, Debian debian, Path jdk, Path folder) {
        Machine machine = debian.machine();
        if (inputs.base().equals(PACKAGES)) {
            Stage stage = Stage.at(folder, "base", inputs.time());
            return new Base(debian, null, List.of(stage), DebianPackages.stageBase(debian, stage, jdk));
        }
        Path archive = Folders.make(folder).resolve("base.tar");
        Archive.write(given(inputs, machine), archive, "base", folder.resolve("cache"));
        Unpacked base = Unpacked.names(archive);
        if (!base.has(machine.loader()) && !base.has("/usr" + machine.loader())) { // /lib64 may be a link to /usr/lib64
            throw new ImageBuildException("The base %s has no %s: it needs glibc for %s"
                    .formatted(inputs.base(), machine.loader(), machine.architecture()));
        }
        List<Path> core = Elf.files(jdk).stream()
                .filter(file -> CORE.contains(file.getFileName().toString()))
                .toList();
        for (String name : Elf.linked(core, machine)) {
            if (base.files().stream().noneMatch(file -> file.endsWith("/" + name))) {
                throw new ImageBuildException("The base %s has no %s, which the JDK needs: use another JDK or base"
                        .formatted(inputs.base(), name));
            }
        }
        requireGlibc(archive, jdk);
        if (base.has("/usr/bin/bash")) {
            return new Base(debian, archive, List.of(), Set.of());
        }
        Stage shell = Stage.at(folder, "bash", inputs.time());
        Set<String> packages = DebianPackages.stageBash(debian, shell);
        requireGlibc(archive, shell.root());
        return new Base(debian, archive, List.of(shell), packages);
    }

    private static void requireGlibc(Path archive, Path folder) {
        AtomicInteger glibc = new AtomicInteger();
        Unpacked.of(archive, (entry, content) -> {
            if (LIBC.matcher(entry.getName()).find()) {
                glibc.accumulateAndGet(Elf.glibc(content.readAllBytes()), Math::max);
            }
        });
        for (Path file : Elf.files(folder)) {
            int needed = Elf.glibc(Elf.begin(file, Integer.MAX_VALUE));
            if (needed > glibc.get() && glibc.get() > 0) { // it may be a hard link
                throw new ImageBuildException("The base has glibc 2.%d, and /%s needs 2.%d: use a newer base"
                        .formatted(glibc.get(), folder.relativize(file), needed));
            }
        }
    }

    private static JibContainerBuilder given(Inputs inputs, Machine machine) {
        String name = inputs.base();
        try {
            JibContainerBuilder builder = name.startsWith(TAR)
                    ? Jib.from(TarImage.at(Path.of(name.substring(TAR.length()))))
                    : Jib.from(RegistryImage.named(name).addCredentialRetriever(() -> login(name)));
            // the only archives that Jib reads
            return platform(builder, machine).setFormat(ImageFormat.Docker);
        } catch (InvalidImageReferenceException e) {
            throw new ImageBuildException(
                    "-Dimage.base=%s is not packages, tar:FILE, or a reference such as gcr.io/distroless/base-debian12"
                            .formatted(name),
                    e);
        }
    }

    /** Returns what {@code docker login} has stored for the registry of an image. */
    static Optional<Credential> login(String name) throws CredentialRetrievalException {
        String given = System.getenv().getOrDefault("DOCKER_CONFIG", "");
        String folder = given.isEmpty() ? System.getProperty("user.home") + "/.docker" : given;
        try {
            return DockerConfigCredentialRetriever.create(
                            ImageReference.parse(name).getRegistry(), Path.of(folder, "config.json"))
                    .retrieve(event -> {});
        } catch (InvalidImageReferenceException e) {
            throw new CredentialRetrievalException(e);
        } catch (IOException e) { // of a file of root's, say: a public base needs no login
            return Optional.empty();
        }
    }

    /** Returns a builder of an image with this base, whose layers come first. */
    JibContainerBuilder builder() {
        JibContainerBuilder builder = archive == null ? Jib.fromScratch() : Jib.from(TarImage.at(archive));
        platform(builder, debian.machine());
        layers.forEach(layer -> builder.addFileEntriesLayer(layer.layer()));
        return builder;
    }

    private static JibContainerBuilder platform(JibContainerBuilder builder, Machine machine) {
        return builder.setFormat(ImageFormat.OCI).setPlatforms(Set.of(new Platform(machine.architecture(), "linux")));
    }

    /**
     * Our own base: the few files of Debian's packages that the programs need.
     *
     * <p>It contains all libraries of glibc, including those that nothing in the image names: NVML and nvidia-smi come
     * from the node and are linked with them.
     */
    private static final class DebianPackages {

        private static final String BUSYBOX = "busybox-static";

        /** The programs that admins call in a container; each is a script, because Jib's images have no links. */
        private static final String APPLETS =
                "cat cp df env find grep head id kill ls mkdir mount mv ps rm sed sh sleep stat tail top umount vi wget wc";

        private static final Pattern LIBRARY = Pattern.compile("[^/]+\\.so(\\.\\d+)?");

        private final Debian debian;
        private final Machine machine;
        private final Stage stage;
        private final Set<String> packages = new TreeSet<>();

        private DebianPackages(Debian debian, Stage stage) {
            this.debian = debian;
            machine = debian.machine();
            this.stage = stage;
        }

        /** Stages a whole base, and returns its packages. */
        static Set<String> stageBase(Debian debian, Stage stage, Path jdk) {
            DebianPackages base = new DebianPackages(debian, stage);
            base.requirePackages();
            base.glibc();
            base.library("libgcc-s1", "libgcc_s.so.1"); // glibc loads it when a thread is cancelled
            base.bash();
            base.busybox();
            base.tree("libc-bin", "/usr/lib/locale/C.utf8");
            base.whatElseIsNeeded(jdk);
            base.accounts();
            base.documents();
            return base.packages;
        }

        /** Stages bash, for a base that lacks it, and returns the packages. */
        static Set<String> stageBash(Debian debian, Stage stage) {
            DebianPackages shell = new DebianPackages(debian, stage);
            shell.requirePackages();
            shell.bash();
            shell.documents();
            return shell.packages;
        }

        private void requirePackages() {
            if (!Files.isExecutable(Path.of("/usr/bin/dpkg"))) {
                throw new ImageBuildException(
                        "The files of bash and glibc are taken from Debian's packages, and this machine has no dpkg: build on Debian or Ubuntu, or set -Dimage.base=REFERENCE to a base with bash");
            }
        }

        private void glibc() {
            Path loader = Path.of(machine.loader()).getFileName();
            for (String file : debian.about("libc6", "--listfiles").lines().toList()) {
                Path name = Path.of(file).getFileName();
                boolean library = file.equals(machine.libraries() + "/" + name)
                        || ("/usr" + file).equals(machine.libraries() + "/" + name);
                if (library
                        && !name.equals(loader)
                        && LIBRARY.matcher(name.toString()).matches()) {
                    library("libc6", name.toString());
                }
            }
            take("libc6", debian.file(machine.loader()), machine.loader());
        }

        private void bash() {
            take("bash", debian.file("/bin/bash"), "/usr/bin/bash");
            library("libtinfo6", "libtinfo.so.6");
        }

        private void busybox() {
            if (!Files.exists(debian.file("/usr/share/doc/" + BUSYBOX))) {
                throw new ImageBuildException(
                        "The images need a static busybox, which this machine lacks: install Debian's package "
                                + BUSYBOX);
            }
            take(BUSYBOX, debian.file("/bin/busybox"), "/usr/bin/busybox");
            for (String applet : APPLETS.split(" ")) {
                String script = "#!/usr/bin/busybox sh\nexec /usr/bin/busybox %s \"$@\"\n".formatted(applet);
                stage.write("/usr/bin/" + applet, script.getBytes(StandardCharsets.UTF_8), true);
            }
        }

        private void library(String owner, String name) {
            String path = machine.libraries() + "/" + name;
            take(owner, debian.library(path), path);
        }

        private void tree(String owner, String path) {
            packages.add(owner);
            stage.copyTree(debian.file(path), path);
        }

        private void take(String owner, Path file, String path) {
            packages.add(owner);
            stage.copy(file, path);
        }

        /** The libraries outside of the JDK that a JDK of a distribution may be linked with. */
        private void whatElseIsNeeded(Path jdk) {
            List<Path> files = new ArrayList<>(Elf.files(jdk));
            files.addAll(Elf.files(stage.root()));
            for (Path needed : Elf.needed(files, debian)) {
                String path = machine.libraries() + "/" + needed.getFileName();
                if (!Files.exists(stage.file(path))) {
                    take(debian.owner(needed), needed, path);
                }
            }
        }

        private void accounts() {
            text(
                    "/etc/passwd",
                    "root:x:0:0:root:/root:/usr/bin/bash\n" + "nonroot:x:65532:0:nonroot:/tmp:/usr/bin/bash\n");
            text("/etc/group", "root:x:0:\n");
            text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
            stage.copy(debian.file("/etc/os-release"), "/etc/os-release");
        }

        /** Stages licenses, and the files that vulnerability scanners read in an image without dpkg. */
        private void documents() {
            for (String name : packages) {
                String copyright = "/usr/share/doc/" + name + "/copyright";
                stage.copy(debian.file(copyright), copyright);
                text("/var/lib/dpkg/status.d/" + name, debian.about(name, "--status") + "\n");
            }
        }

        private void text(String path, String content) {
            stage.write(path, content.getBytes(StandardCharsets.UTF_8), false);
        }
    }
}
