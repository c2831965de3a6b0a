// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.bugs;

import static org.objectweb.asm.Opcodes.*;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Alters the code of a method; each kind returns the number of altered places. */
final class Alteration {

    private final MethodNode method;
    private final List<String> arguments;

    Alteration(MethodNode method, List<String> arguments) {
        this.method = method;
        this.arguments = arguments;
    }

    int apply(String kind) {
        return switch (kind) {
            case "return" -> returnNow();
            case "defer" -> defer();
            case "omit" -> calls(0).peek(this::omit).toList().size();
            case "not" -> calls(0).peek(this::negate).toList().size();
            case "close" -> calls(0).peek(this::close).toList().size();
            case "swallow" -> calls(0).peek(this::swallow).toList().size();
            default -> throw new IllegalArgumentException("no kind of change: " + kind);
        };
    }

    /** Finds the calls that an argument selects: all with a name, or one of them by its number. */
    private Stream<MethodInsnNode> calls(int argument) {
        String[] call = arguments.get(argument).split(":");
        List<MethodInsnNode> found = new ArrayList<>();
        for (AbstractInsnNode one : method.instructions) {
            if (one instanceof MethodInsnNode other && call[0].equals(simple(other.owner) + "." + other.name)) {
                found.add(other);
            }
        }
        return call.length == 1
                ? found.stream()
                : found.stream().skip(Integer.parseInt(call[1]) - 1L).limit(1);
    }

    private static String simple(String owner) {
        return owner.substring(Math.max(owner.lastIndexOf('/'), owner.lastIndexOf('$')) + 1);
    }

    private String value(int argument) {
        return arguments.size() > argument ? arguments.get(argument) : "";
    }

    private int returnNow() {
        Type type = Type.getReturnType(method.desc);
        method.instructions.clear();
        method.tryCatchBlocks.clear();
        method.localVariables = null;
        method.instructions.add(push(type, value(0)));
        method.instructions.add(new InsnNode(type.getOpcode(IRETURN)));
        return 1;
    }

    /** Puts a value on the stack: a name of {@code bugs.txt}, or zero, false and null. */
    private static InsnList push(Type type, String value) {
        InsnList code = new InsnList();
        switch (value) {
            case "true" -> code.add(new InsnNode(ICONST_1));
            case "empty" -> code.add(made("java/util/Optional"));
            case "list" -> code.add(made("java/util/List"));
            case "map" -> code.add(made("java/util/Map"));
            case "text" -> code.add(new LdcInsnNode("a constant"));
            default -> zero(type).forEach(code::add);
        }
        return code;
    }

    private static MethodInsnNode made(String type) {
        boolean isOptional = type.endsWith("Optional");
        return new MethodInsnNode(INVOKESTATIC, type, isOptional ? "empty" : "of", "()L" + type + ";", !isOptional);
    }

    private static List<AbstractInsnNode> zero(Type type) {
        return switch (type.getSort()) {
            case Type.VOID -> List.of();
            case Type.LONG -> List.of(new InsnNode(LCONST_0));
            case Type.OBJECT, Type.ARRAY -> List.of(new InsnNode(ACONST_NULL));
            default -> List.of(new InsnNode(ICONST_0));
        };
    }

    /** The types on the stack before a call: the object, and the arguments. */
    private static List<Type> operands(MethodInsnNode call) {
        List<Type> types = new ArrayList<>();
        if (call.getOpcode() != INVOKESTATIC) {
            types.add(Type.getObjectType(call.owner));
        }
        types.addAll(List.of(Type.getArgumentTypes(call.desc)));
        return types;
    }

    private static InsnNode pop(Type type) {
        return new InsnNode(type.getSize() == 2 ? POP2 : type.getSize() == 1 ? POP : NOP);
    }

    private void omit(MethodInsnNode call) {
        InsnList instead = new InsnList();
        List<Type> operands = operands(call);
        Collections.reverse(operands);
        operands.forEach(type -> instead.add(pop(type)));
        instead.add(push(Type.getReturnType(call.desc), value(1)));
        method.instructions.insertBefore(call, instead);
        method.instructions.remove(call);
    }

    private void negate(MethodInsnNode call) {
        method.instructions.insert(call, new InsnNode(IXOR));
        method.instructions.insert(call, new InsnNode(ICONST_1));
    }

    private void close(MethodInsnNode call) {
        LabelNode none = new LabelNode();
        LabelNode end = new LabelNode();
        InsnList code = new InsnList();
        code.add(new InsnNode(DUP));
        code.add(new InsnNode(DUP));
        code.add(new JumpInsnNode(IFNULL, none));
        code.add(new MethodInsnNode(INVOKEINTERFACE, "java/lang/AutoCloseable", "close", "()V", true));
        code.add(new JumpInsnNode(GOTO, end));
        code.add(none);
        code.add(new InsnNode(POP));
        code.add(end);
        method.instructions.insert(call, code);
    }

    /** Wraps a call with nothing else on the stack. */
    private void swallow(MethodInsnNode call) {
        LabelNode start = new LabelNode();
        LabelNode end = new LabelNode();
        LabelNode failed = new LabelNode();
        LabelNode after = new LabelNode();
        InsnList code = new InsnList();
        code.add(end);
        code.add(new JumpInsnNode(GOTO, after));
        code.add(failed);
        code.add(new InsnNode(POP));
        code.add(push(Type.getReturnType(call.desc), value(1)));
        code.add(after);
        method.instructions.insertBefore(call, start);
        method.instructions.insert(call, code);
        method.tryCatchBlocks.add(0, new TryCatchBlockNode(start, end, failed, "java/lang/Exception"));
    }

    /** Makes a call on an object later, after another one; its result is not used. */
    private int defer() {
        List<MethodInsnNode> both =
                Stream.concat(calls(0).limit(1), calls(1).limit(1)).toList();
        if (both.size() < 2) {
            return 0;
        }
        MethodInsnNode call = both.get(0);
        List<Type> operands = operands(call);
        int first = method.maxLocals;
        InsnList keep = new InsnList();
        InsnList later = new InsnList();
        InsnList clear = new InsnList();
        LabelNode end = new LabelNode();
        later.add(new VarInsnNode(ALOAD, first));
        later.add(new JumpInsnNode(IFNULL, end));
        for (Type type : operands) {
            VarInsnNode store = new VarInsnNode(type.getOpcode(ISTORE), method.maxLocals);
            keep.insert(store);
            later.add(new VarInsnNode(type.getOpcode(ILOAD), method.maxLocals));
            zero(type).forEach(clear::add);
            clear.add(new VarInsnNode(store.getOpcode(), method.maxLocals));
            method.maxLocals += type.getSize();
        }
        Type result = Type.getReturnType(call.desc);
        keep.add(push(result, ""));
        later.add(new MethodInsnNode(call.getOpcode(), call.owner, call.name, call.desc, call.itf));
        later.add(pop(result));
        later.add(end);
        method.instructions.insertBefore(call, keep);
        method.instructions.remove(call);
        method.instructions.insert(both.get(1), later);
        method.instructions.insert(clear);
        return 1;
    }
}
