// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The image of a vendor's driver, made only from the jar of its build. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class VendorImageIT {

    @TempDir
    private Path folder;

    /** A jar as the archetype's build makes it: its manifest names the main class and the libraries. */
    private Path jar(String main, String classPath, Map<String, byte[]> files) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.CLASS_PATH, classPath);
        if (!main.isEmpty()) {
            attributes.put(Attributes.Name.MAIN_CLASS, main);
        }
        Path jar = folder.resolve("fpga-driver.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                out.putNextEntry(new ZipEntry(file.getKey()));
                out.write(file.getValue());
            }
        }
        return jar;
    }

    @Test
    void runsTheDriverWithItsCacheAndSaysWhatItIs() throws Exception {
        Built.assumeContainers();
        String libraries = Jars.of(Built.inputs(folder), Image.FAKE_DRIVER).all().stream()
                .map(library -> library.toUri().toString())
                .collect(Collectors.joining(" "));
        Path jar = jar("io.dra4j.example.FakeDriverMain", libraries, Map.of());
        Inputs inputs = Built.inputs(
                folder,
                "--jar=" + jar,
                "--driver=gpu.example.com",
                "--description=DRA driver\n  gpu.example.com",
                "--training=--num-devices=2",
                "--jvm-options=-Xmx48m\n -Dacme=1;$(exit",
                "--modules=java.sql");
        ImageBuild build = new ImageBuild(inputs, Machine.current());
        Image image = build.images().iterator().next();
        assertThat(image.jvmOptions()).contains("-Dacme=1;$(exit").doesNotContain("--finalization=disabled");

        Path archive = build.write(image);

        JsonNode config = Unpacked.names(archive).config().path("config");
        assertThat(config.at("/Entrypoint/0").asText()).isEqualTo("/usr/bin/fpga-driver");
        assertThat(config.path("Labels").toString())
                .contains("DRA driver gpu.example.com", "\"fpga-driver\"")
                .doesNotContain("Apache");
        Container container = Container.unpack(archive, folder.resolve("root"));
        Map<String, String> environment = Map.of("JAVA_OPTS", "-XX:AOTMode=on");
        List<String> command = container.driver("", environment, List.of(container.entryPoint(), "-v", "5"));
        String log = DriverLife.run("gpu.example.com", command, context -> {});
        assertThat(log).contains("Claim prepared").doesNotContainIgnoringCase(DriverImagesIT.LACKING);
        assertThat(container
                        .run(Map.of(), Image.JDK + "/bin/java", "--list-modules")
                        .output())
                .contains("java.sql@");
        assertThat(folder.resolve("root" + Sbom.PATH)).content().contains("dra4j-sdk-api", "OpenJDK", "libc6");
    }

    @ParameterizedTest
    @CsvSource({
        "'', '', --driver=, has no Main-Class in its manifest",
        "com.acme.Main, lib/acme-1.0.jar, --driver=, lib/acme-1.0.jar is not a jar: build images with `mvn -Pimage package`",
        "com.acme.Main, '', --driver=, 'fpga-driver has no class com.acme.Main, which fpga-driver is to start'",
        "com.acme.Main, '', --drivername=x, 'Unknown setting --drivername=x; the settings of an image are --architectures, --base, --desc'"
    })
    void isRefusedWithWhatIsMissing(String main, String classPath, String word, String message) throws Exception {
        Path jar = jar(main, classPath, Map.of());

        assertThatThrownBy(() -> {
                    ImageBuild build = new ImageBuild(Built.inputs(folder, "--jar=" + jar, word), Machine.current());
                    build.write(build.images().iterator().next());
                })
                .isInstanceOf(ImageBuildException.class)
                .hasMessageContaining(message);
    }

    @Test
    void isRefusedWithALibraryOfAnotherArchitecture() throws Exception {
        byte[] library = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, (byte) 243, 0}; // RISC-V
        String name = "com/sun/jna/" + Machine.current().jna() + "/libjnidispatch.so";
        Path jar = jar("com.acme.Main", "", Map.of("com/acme/Main.class", new byte[0], name, library));
        Path sbom = Files.writeString(folder.resolve("sbom"), "{}");
        ImageBuild build = new ImageBuild(Built.inputs(folder, "--jar=" + jar, "--sbom=" + sbom), Machine.current());

        assertThatThrownBy(() -> build.write(build.images().iterator().next()))
                .isInstanceOf(ImageBuildException.class)
                .hasMessageStartingWith("/usr/lib/dra4j/native/libjnidispatch.so can't be in an image for ")
                .hasMessageContaining(
                        "(243 in ELF's numbers, not " + Machine.current().elf() + ")");
    }
}
