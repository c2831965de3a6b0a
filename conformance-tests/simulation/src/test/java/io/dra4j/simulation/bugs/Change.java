// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.bugs;

import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * A change of a method, and of the lambdas in it, unless the whole method is replaced.
 *
 * @param type the name of the class
 * @param kind the kind of the change; {@code bugs.txt} has the list
 * @param arguments what the kind needs: calls, values
 */
public record Change(String type, String method, String kind, List<String> arguments) {

    private static final String RUNTIME = "io.dra4j.runtime.internal.";

    static Change of(String line) {
        List<String> words = List.of(line.split(" "));
        String[] place = words.get(0).split("#");
        return new Change(RUNTIME + place[0], place[1], words.get(1), words.subList(2, words.size()));
    }

    /**
     * Changes a class.
     *
     * @throws IllegalArgumentException if a change fits nowhere, because the class has changed
     */
    static byte[] apply(List<Change> changes, byte[] code) {
        ClassNode node = new ClassNode();
        new ClassReader(code).accept(node, ClassReader.SKIP_FRAMES);
        changes.forEach(change -> change.apply(node));
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
        node.accept(writer);
        return writer.toByteArray();
    }

    private void apply(ClassNode node) {
        int places = 0;
        for (MethodNode candidate : node.methods) {
            if (candidate.instructions.size() > 0 && isMeant(candidate.name)) {
                places += new Alteration(candidate, arguments).apply(kind);
            }
        }
        if (places == 0) {
            throw new IllegalArgumentException("nothing to change: " + this);
        }
    }

    private boolean isMeant(String name) {
        return name.equals(method) || !kind.equals("return") && name.startsWith("lambda$" + method + "$");
    }

    @Override
    public String toString() {
        return type + "#" + method + " " + kind + " " + String.join(" ", arguments);
    }
}
