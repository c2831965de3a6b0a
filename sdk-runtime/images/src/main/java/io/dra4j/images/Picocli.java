// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/**
 * Picocli with classes of Java 8. Nothing else about them changes.
 *
 * <p>Picocli is compiled for Java 5. JDK 25 verifies such old classes slowly, and keeps neither them nor the lambdas
 * and proxies that refer to them in an AOT cache (JDK-8317269), although they are the first that a driver needs.
 */
final class Picocli {

    /** The note on the change in the jar's manifest and in SBOMs. */
    static final String CHANGE = "class files of Java 8 instead of Java 5, with stack maps";

    private Picocli() {}

    static boolean isIn(Path jar) {
        return jar.getFileName().toString().matches("picocli-\\d.*"); // not one of its extensions
    }

    /** Returns the jar with its new classes; the same for the same jar. */
    static byte[] converted(Path jar) {
        ByteArrayOutputStream converted = new ByteArrayOutputStream();
        try (ZipFile from = new ZipFile(jar.toFile());
                ZipOutputStream to = new ZipOutputStream(converted);
                URLClassLoader classes =
                        new URLClassLoader(new URL[] {jar.toUri().toURL()})) {
            for (ZipEntry entry : from.stream().toList()) {
                ZipEntry same = new ZipEntry(entry.getName());
                same.setTimeLocal(entry.getTimeLocal());
                to.putNextEntry(same);
                to.write(converted(entry.getName(), from.getInputStream(entry).readAllBytes(), classes));
            }
        } catch (IOException e) {
            throw new ImageBuildException("Can't read " + jar + ": " + e, e);
        }
        return converted.toByteArray();
    }

    private static byte[] converted(String name, byte[] content, ClassLoader classes) throws IOException {
        if (name.equals(JarFile.MANIFEST_NAME)) {
            Manifest manifest = new Manifest(new ByteArrayInputStream(content));
            manifest.getMainAttributes().putValue("Changed-By-Dra4j", CHANGE);
            ByteArrayOutputStream noted = new ByteArrayOutputStream();
            manifest.write(noted);
            return noted.toByteArray();
        }
        return name.startsWith("picocli/") && name.endsWith(".class") ? converted(content, classes) : content;
    }

    private static byte[] converted(byte[] content, ClassLoader classes) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
            @Override
            protected ClassLoader getClassLoader() {
                return classes;
            }
        };
        ClassVisitor newer = new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public void visit(
                    int version, int access, String name, String signature, String superName, String[] interfaces) {
                super.visit(Math.max(version, Opcodes.V1_8), access, name, signature, superName, interfaces);
            }
        };
        new ClassReader(content).accept(newer, ClassReader.SKIP_FRAMES);
        return writer.toByteArray();
    }
}
