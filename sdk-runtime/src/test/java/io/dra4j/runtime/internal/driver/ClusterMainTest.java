// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterMainTest {

    /** Stands in for the program of {@code kubectl-dra.jar}: notes its arguments in a file. */
    public static final class NotedArguments {
        /**
         * Ends with status 7.
         *
         * @param args the file is the last one
         */
        public static void main(String[] args) throws IOException {
            Files.write(Path.of(args[args.length - 1]), List.of(args));
            System.exit(7);
        }
    }

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int execute(Map<String, String> environment, Class<?> main, String... args) {
        return new ClusterMain(new PrintStream(err, true, UTF_8), environment).execute("acme-driver", main, args);
    }

    private static Path jar(Path file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, NotedArguments.class.getName());
        String entry = NotedArguments.class.getName().replace('.', '/') + ".class";
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file), manifest);
                InputStream bytes = NotedArguments.class.getClassLoader().getResourceAsStream(entry)) {
            jar.putNextEntry(new JarEntry(entry));
            jar.write(bytes.readAllBytes());
        }
        return file;
    }

    @Test
    void runsTheJarThatTheEnvironmentNames() throws IOException {
        Path jar = jar(folder.resolve("any.jar"));
        Path noted = folder.resolve("noted");

        int status =
                execute(Map.of("KUBECTL_DRA_JAR", jar.toString()), getClass(), "explain", "pod/a b", noted.toString());

        assertThat(status).isEqualTo(7);
        assertThat(noted).hasContent("explain\npod/a b\n" + noted);
    }

    @Test
    void findsTheJarBesideItsOwn() throws Exception {
        jar(folder.resolve("kubectl-dra.jar"));
        Path noted = folder.resolve("noted");
        URL own = jar(folder.resolve("acme.jar")).toUri().toURL();

        try (URLClassLoader loader = new URLClassLoader(new URL[] {own}, ClassLoader.getPlatformClassLoader())) {
            Class<?> main = loader.loadClass(NotedArguments.class.getName());

            assertThat(execute(Map.of(), main, "tree", noted.toString())).isEqualTo(7);
        }
        assertThat(noted).hasContent("tree\n" + noted);
    }

    @Test
    void withoutTheJarSaysWhereItHasToBe() {
        assertThat(execute(Map.of(), getClass(), "explain", "pod/a")).isEqualTo(3);
        assertThat(err.toString(UTF_8))
                .startsWith("acme-driver: explain is a command of kubectl-dra.jar")
                .contains("KUBECTL_DRA_JAR", "`kubectl dra explain`");
    }
}
