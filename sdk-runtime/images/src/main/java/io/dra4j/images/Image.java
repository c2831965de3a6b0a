// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An image: its programs, and the settings of its containers.
 *
 * @param description what it is for, in a sentence
 * @param module the folder of the Maven module of its programs; empty for a vendor's
 * @param programs its programs; the first is the entry point, and trains the AOT cache
 * @param scripts further files of {@code /usr/bin}, which are resources of this package
 * @param jvmOptions options of the JVM; the AOT cache is valid only for these
 * @param user the user and group that a container runs as
 * @param driver the driver's name; empty for a program that is not a driver, or can't run on the build machine
 * @param training arguments of the run that trains the AOT cache
 * @param licenses in the form of OCI's label; empty if they are not known
 */
record Image(
        String name,
        String title,
        String description,
        String module,
        List<Program> programs,
        List<String> scripts,
        List<String> jvmOptions,
        String user,
        String driver,
        List<String> training,
        Optional<String> licenses) {

    /** The folder of libraries in an image. */
    static final String NATIVE = "/usr/lib/dra4j/native";

    /** The folder of jars in an image. */
    static final String JARS = "/usr/share/dra4j/lib";

    /** The home of the JDK in an image. */
    static final String JDK = "/usr/lib/dra4j/jdk";

    /** Options for libraries that use native code. */
    private static final List<String> LIBRARIES = List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Djava.library.path=" + NATIVE);

    /** Options of a program that runs once, and may use all available memory. */
    private static final List<String> ONCE =
            join(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"), LIBRARIES);

    /** Options of programs that run on every node. */
    private static final List<String> NODE = join(
            ofDrivers(),
            join(
                    LIBRARIES,
                    List.of(
                            "-Djna.boot.library.path=" + NATIVE,
                            "-Djna.nounpack=true",
                            // The profiles of the training run are useful only to the second compiler, which is off.
                            "-XX:-AOTReplayTraining")));

    /** The same options for drivers of this repository, which have no finalizers and so need no finalizer thread. */
    private static final List<String> OUR_NODE = join(NODE, List.of("--finalization=disabled"));

    private static final String ROOT = "0:0"; // the kubelet's directories are root's

    private static final String NONROOT = "65532:0";

    private static final Optional<String> APACHE = Optional.of("Apache-2.0");

    /** A program of an image: its name in {@code /usr/bin}, and its main class. */
    record Program(String command, String main) {}

    /** The example driver, whose devices do not exist. */
    static final Image FAKE_DRIVER = new Image(
            "dra4j-example-fake-driver",
            "dra4j example driver",
            "DRA driver for GPUs, CPUs and NICs that do not exist",
            "example-fake-driver",
            List.of(
                    new Program("dra-example-kubeletplugin", "io.dra4j.example.FakeDriverMain"),
                    new Program("dra-example-controller", "io.dra4j.example.ControllerMain")),
            List.of("dra-example-webhook"),
            OUR_NODE,
            ROOT,
            "gpu.example.com",
            List.of(),
            APACHE);

    /** The driver of NVIDIA's GPUs. */
    static final Image NVIDIA_DRIVER = new Image(
            "dra4j-nvidia-driver",
            "dra4j NVIDIA driver",
            "DRA driver for NVIDIA GPUs and MIG devices",
            "nvidia-driver",
            List.of(new Program("gpu-kubelet-plugin", "io.dra4j.nvidia.NvidiaDriverMain")),
            List.of(
                    "kubelet-plugin-prestart.sh",
                    "webhook",
                    "compute-domain-controller",
                    "compute-domain-kubelet-plugin",
                    "compute-domain-daemon"),
            OUR_NODE,
            ROOT,
            "gpu.nvidia.com",
            List.of("--dynamic-mig"),
            APACHE);

    /** The conformance suite. */
    static final Image CONFORMANCE = new Image(
            "dra-conformance",
            "dra-conformance",
            "Conformance suite for DRA drivers in any language",
            "conformance-tests/suite",
            List.of(new Program("dra-conformance", "io.dra4j.conformance.ConformanceMain")),
            List.of(),
            ONCE,
            NONROOT,
            "",
            List.of("list"),
            APACHE);

    static final List<Image> IMAGES = List.of(FAKE_DRIVER, NVIDIA_DRIVER, CONFORMANCE);

    /** The image of a vendor's driver, by the settings; missing settings are taken from its jar. */
    static Image ofVendor(Inputs inputs, Path jar) {
        String name = inputs.value("name", jar.getFileName().toString().replaceFirst("\\.jar$", ""));
        String driver = inputs.value("driver", "");
        List<String> training = inputs.words("training");
        return new Image(
                name,
                name,
                inputs.value("description", "DRA driver " + (driver.isEmpty() ? name : driver))
                        .replaceAll("\\s+", " "),
                "",
                List.of(new Program(name, Jars.main(jar))),
                List.of(),
                join(NODE, inputs.words("jvm-options")),
                ROOT,
                driver,
                driver.isEmpty() && training.isEmpty() ? List.of("--help") : training,
                inputs.given("licenses"));
    }

    private static List<String> join(List<String> one, List<String> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }

    String cache() {
        return "/usr/lib/dra4j/" + name + ".aot";
    }

    /** The program that a container runs. */
    Program entryPoint() {
        return programs.get(0);
    }

    @Override
    public String toString() {
        return name;
    }

    /** The options that drivers are started with, with or without an image, from sdk-runtime/deploy. */
    private static List<String> ofDrivers() {
        return Folders.packaged("/jvm.options")
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();
    }
}
