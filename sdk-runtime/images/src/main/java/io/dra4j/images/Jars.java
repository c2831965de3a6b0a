// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * The class path of a program.
 *
 * @param all its jars in their order, the program's own first
 * @param parts the SBOM of CycloneDX's plugin; null to use their file names
 */
record Jars(List<Path> all, @Nullable Path parts) {

    /** Reads the build output of a program's module, which was built with the profile image. */
    static Jars of(Inputs inputs, Image image) {
        Path target = inputs.repository().resolve(image.module()).resolve("target");
        Path list = target.resolve("image/class-path");
        List<Path> jars = new ArrayList<>();
        jars.add(own(target, inputs.version()));
        try {
            Stream.of(Files.readString(list).strip().split(File.pathSeparator))
                    .map(Path::of)
                    .forEach(jars::add);
        } catch (IOException e) {
            throw new ImageBuildException("The module " + image.module() + " was not built with -Pimage: " + e, e);
        }
        return checked(jars, target.resolve("image/sbom.cdx.json"));
    }

    /** Reads the manifest of a driver's jar, as {@code java -jar} does; all jars that it names have to be there. */
    static Jars ofVendor(Inputs inputs, Path jar) {
        List<Path> jars = new ArrayList<>(List.of(jar));
        manifest(jar, Attributes.Name.CLASS_PATH)
                .ifPresent(path -> Stream.of(path.split(" +"))
                        .forEach(entry -> jars.add(Path.of(jar.toUri().resolve(entry)))));
        return checked(jars, inputs.given("sbom").map(Path::of).orElse(null));
    }

    /** The main class of a driver's jar, by its manifest. */
    static String main(Path jar) {
        return manifest(jar, Attributes.Name.MAIN_CLASS)
                .orElseThrow(
                        () -> new ImageBuildException(
                                jar
                                        + " has no Main-Class in its manifest for `java -jar` to start; maven-jar-plugin writes it, and a Class-Path with the libraries"));
    }

    private static Optional<String> manifest(Path jar, Attributes.Name name) {
        try (JarFile file = new JarFile(jar.toFile())) {
            return Optional.ofNullable(file.getManifest())
                    .map(manifest -> manifest.getMainAttributes().getValue(name))
                    .map(String::strip)
                    .filter(value -> !value.isEmpty());
        } catch (IOException e) {
            throw new ImageBuildException("Can't read the jar " + jar + ": " + e + "; build it before its image", e);
        }
    }

    private static Jars checked(List<Path> jars, @Nullable Path parts) {
        Set<Path> names = new HashSet<>();
        for (Path jar : jars) {
            if (!Files.isRegularFile(jar)) {
                throw new ImageBuildException(jar + " is not a jar: build images with `mvn -Pimage package`");
            }
            if (!names.add(jar.getFileName())) {
                throw new ImageBuildException("Two jars are called " + jar.getFileName());
            }
        }
        return new Jars(jars, parts);
    }

    private static Path own(Path target, String version) {
        String end = "-" + version + ".jar";
        try (Stream<Path> files = Files.list(target)) {
            return files.filter(file -> file.getFileName().toString().endsWith(end))
                    .findFirst()
                    .orElseThrow(() -> new ImageBuildException("No jar *" + end + " in " + target));
        } catch (IOException e) {
            throw new ImageBuildException("Can't list " + target + ": " + e, e);
        }
    }

    /** Returns the program's own jar, and those of this project, by their file names. */
    List<Path> ours() {
        return all.stream().filter(this::isOurs).toList();
    }

    /** Returns the jars of other projects. */
    List<Path> foreign() {
        return all.stream().filter(jar -> !isOurs(jar)).toList();
    }

    private boolean isOurs(Path jar) {
        return jar.equals(all.get(0)) || jar.getFileName().toString().startsWith("dra4j-");
    }

    String classPath(String folder) {
        return String.join(
                ":", all.stream().map(jar -> folder + "/" + jar.getFileName()).toList());
    }

    boolean has(String className) {
        return find(className.replace('.', '/') + ".class") != null;
    }

    /** Stages a file from one of the jars; if no jar has it, the program does not need it. */
    void extract(String entry, Stage stage, String path) {
        Path jar = find(entry);
        if (jar == null) {
            return;
        }
        try (ZipFile zip = new ZipFile(jar.toFile());
                InputStream content = zip.getInputStream(zip.getEntry(entry))) {
            stage.write(path, content.readAllBytes(), false);
        } catch (IOException e) {
            throw new ImageBuildException("Can't read " + jar + ": " + e, e);
        }
    }

    private @Nullable Path find(String entry) {
        for (Path jar : all) {
            try (ZipFile zip = new ZipFile(jar.toFile())) {
                ZipEntry found = zip.getEntry(entry);
                if (found != null) {
                    return jar;
                }
            } catch (IOException e) {
                throw new ImageBuildException("Can't read " + jar + ": " + e, e);
            }
        }
        return null;
    }
}
