// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class PicocliTest {

    private static final short JAVA_8 = 52;
    private static final Pattern CLASS = Pattern.compile("picocli/.*\\.class");

    @Test
    void theJvmAcceptsAllItsConvertedClasses(@TempDir Path folder) throws Exception {
        Path release = jarOf(CommandLine.class);
        Path converted = folder.resolve("picocli.jar");
        Files.write(converted, Picocli.converted(release));

        long classes;
        try (JarFile before = new JarFile(release.toFile());
                JarFile after = new JarFile(converted.toFile())) {
            assertThat(names(after)).isEqualTo(names(before));
            assertThat(after.getManifest().getMainAttributes().getValue("Changed-By-Dra4j"))
                    .isEqualTo(Picocli.CHANGE);
            classes = names(after).stream().filter(CLASS.asMatchPredicate()).count();
        }
        String java = System.getProperty("java.home") + "/bin/java"; // this JVM verifies no classes
        String tests = jarOf(PicocliTest.class).toString();
        assertThat(Tool.output(List.of(java, "-cp", tests, Verifying.class.getName(), converted.toString())))
                .isEqualTo(classes + " classes");
        assertThat(classes).isGreaterThan(200);
    }

    private static Path jarOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static List<String> names(JarFile jar) {
        return jar.stream().map(ZipEntry::getName).toList();
    }

    /** Verifies the classes of a jar, and prints how many there are. */
    private static final class Verifying {

        public static void main(String[] arguments) throws Exception {
            URL[] path = {Path.of(arguments[0]).toUri().toURL()};
            int count = 0;
            try (JarFile jar = new JarFile(arguments[0]);
                    URLClassLoader loader = new URLClassLoader(path)) {
                for (String file : names(jar)) {
                    if (CLASS.matcher(file).matches()) {
                        byte[] content = jar.getInputStream(jar.getEntry(file)).readAllBytes();
                        if (ByteBuffer.wrap(content).getShort(6) != JAVA_8) {
                            throw new IllegalStateException(file + " is not of Java 8");
                        }
                        String name = file.substring(0, file.lastIndexOf('.')).replace('/', '.');
                        Class.forName(name, false, loader).getDeclaredMethods(); // links it
                        count++;
                    }
                }
            }
            System.out.println(count + " classes");
        }
    }
}
