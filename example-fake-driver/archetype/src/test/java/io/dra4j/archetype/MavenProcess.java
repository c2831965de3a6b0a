// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.archetype;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Maven with a separate local repository, so that nothing of this build stays in the user's.
 *
 * <p>The repository has what this build made. The user's local repository serves as a remote one before Central or, if
 * the build is offline, as the only one.
 */
final class MavenProcess {

    private static final String SETTINGS = """
            <settings>
              <profiles>
                <profile>
                  <id>known</id>
                  <repositories>%1$s</repositories>
                  <pluginRepositories>%2$s</pluginRepositories>
                </profile>
              </profiles>
              <activeProfiles><activeProfile>known</activeProfile></activeProfiles>
            </settings>
            """;

    private static final String REPOSITORY = """
            <%1$s>
              <id>known</id>
              <url>%2$s</url>
              <releases><checksumPolicy>ignore</checksumPolicy></releases>
              <snapshots><enabled>false</enabled></snapshots>
            </%1$s>
            """;

    private final Path settings;
    private final Path repository;

    private MavenProcess(Path settings, Path repository) {
        this.settings = settings;
        this.repository = repository;
    }

    static MavenProcess with(Path directory) throws IOException {
        String known = Path.of(System.getProperty("local.repository")).toUri().toString();
        Path settings = Files.writeString(
                directory.resolve("settings.xml"),
                SETTINGS.formatted(
                        REPOSITORY.formatted("repository", known), REPOSITORY.formatted("pluginRepository", known)));
        Path repository = directory.resolve("repository");
        copy(Path.of(System.getProperty("built.repository")), repository);
        copyArchetype(System.getProperty("archetype.version"), repository);
        return new MavenProcess(settings, repository);
    }

    private static void copyArchetype(String version, Path repository) throws IOException {
        String name = "dra4j-archetype-" + version;
        Path home = repository.resolve("io/dra4j/dra4j-archetype").resolve(version);
        Files.createDirectories(home);
        Files.copy(Path.of("pom.xml"), home.resolve(name + ".pom"));
        Files.copy(Path.of("target", name + ".jar"), home.resolve(name + ".jar"));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = to.resolve(from.relativize(file));
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
    }

    Output run(Path directory, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("maven.home"), "bin", "mvn").toString());
        command.addAll(List.of("-B", "-ntp", "-Dstyle.color=never", "-s", settings.toString()));
        command.add("-Dmaven.repo.local=" + repository);
        if (System.getProperty("outer.build").equals("offline: true")) {
            command.addAll(List.of("-o", "-Daether.offline.protocols=file"));
        }
        command.addAll(List.of(arguments));
        Map<String, String> brief = Map.of("MAVEN_OPTS", "-XX:TieredStopAtLevel=1");
        return Output.of(directory, brief, command.toArray(String[]::new));
    }
}
