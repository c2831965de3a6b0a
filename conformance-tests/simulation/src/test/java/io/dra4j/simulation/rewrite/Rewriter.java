// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.rewrite;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/** Rewrites a class: its monitors, and the calls that it makes. */
final class Rewriter extends ClassVisitor {

    private static final String HOOKS = "io/dra4j/simulation/schedule/Hooks";
    private static final String ON_MONITOR = "(Ljava/lang/Object;)V";

    private final Replacements replacements;
    private String className = "";

    private Rewriter(Replacements replacements, ClassVisitor next) {
        super(Opcodes.ASM9, next);
        this.replacements = replacements;
    }

    static byte[] rewrite(byte[] code, Replacements replacements) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        Map<String, String> types = replacements.types();
        Remapper remapper = new Remapper(Opcodes.ASM9) {
            @Override
            public String map(String name) {
                return types.getOrDefault(name, name);
            }
        };
        new ClassReader(code).accept(new Rewriter(replacements, new ClassRemapper(writer, remapper)), 0);
        return writer.toByteArray();
    }

    @Override
    public void visit(
            int version, int access, String name, @Nullable String signature, String superName, String[] interfaces) {
        className = name;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(
            int access, String name, String descriptor, @Nullable String signature, String @Nullable [] exceptions) {
        if ((access & Opcodes.ACC_SYNCHRONIZED) == 0) {
            return new Calls(super.visitMethod(access, name, descriptor, signature, exceptions));
        }
        int open = access & ~Opcodes.ACC_SYNCHRONIZED;
        String inner = name + "$locked";
        writeLocking(super.visitMethod(open, name, descriptor, signature, exceptions), open, inner, descriptor);
        int hidden = open & ~(Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED) | Opcodes.ACC_PRIVATE;
        return new Calls(super.visitMethod(hidden, inner, descriptor, signature, exceptions));
    }

    /** Writes a method that calls another with the monitor held. */
    private void writeLocking(MethodVisitor method, int access, String inner, String descriptor) {
        boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
        Label start = new Label();
        Label end = new Label();
        Label failed = new Label();
        method.visitCode();
        method.visitTryCatchBlock(start, end, failed, null);
        onMonitor(method, isStatic, "enter");
        method.visitLabel(start);
        int local = 0;
        if (!isStatic) {
            method.visitVarInsn(Opcodes.ALOAD, local++);
        }
        for (Type argument : Type.getArgumentTypes(descriptor)) {
            method.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
            local += argument.getSize();
        }
        method.visitMethodInsn(
                isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKESPECIAL, className, inner, descriptor, false);
        method.visitLabel(end);
        onMonitor(method, isStatic, "exit");
        method.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
        method.visitLabel(failed);
        method.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] {"java/lang/Throwable"});
        onMonitor(method, isStatic, "exit");
        method.visitInsn(Opcodes.ATHROW);
        method.visitMaxs(0, 0);
        method.visitEnd();
    }

    private void onMonitor(MethodVisitor method, boolean isStatic, String hook) {
        if (isStatic) {
            method.visitLdcInsn(Type.getObjectType(className));
        } else {
            method.visitVarInsn(Opcodes.ALOAD, 0);
        }
        method.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, ON_MONITOR, false);
    }

    /** Replaces monitors and calls in a method. */
    private final class Calls extends MethodVisitor {

        Calls(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitInsn(int opcode) {
            switch (opcode) {
                case Opcodes.MONITORENTER -> visitHook("enter");
                case Opcodes.MONITOREXIT -> visitHook("exit");
                default -> super.visitInsn(opcode);
            }
        }

        private void visitHook(String name) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, ON_MONITOR, false);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            Replacements.Method other = replacements.of(owner, name, descriptor);
            if (other == null) {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            } else {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, other.owner(), other.name(), other.descriptor(), false);
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            Object[] replaced = arguments.clone();
            for (int i = 0; i < replaced.length; i++) {
                replaced[i] = replaced[i] instanceof Handle handle ? replaced(handle) : replaced[i];
            }
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, replaced);
        }

        private Handle replaced(Handle handle) {
            Replacements.Method other = replacements.of(handle.getOwner(), handle.getName(), handle.getDesc());
            return other == null
                    ? handle
                    : new Handle(Opcodes.H_INVOKESTATIC, other.owner(), other.name(), other.descriptor(), false);
        }
    }
}
