// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.ParamTree;
import com.sun.source.doctree.ReturnTree;
import com.sun.source.doctree.ThrowsTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at each public or protected element of a source file for what its comment lacks.
 *
 * <p>A comment begins with a sentence of one line, and a type, method or record describes its
 * parameters, components, result and declared exceptions. A method that overrides another may
 * inherit its comment. A compact constructor describes its checks; its parameters are the
 * components.
 */
final class JavadocCheck extends TreePathScanner<Void, DocTrees> {

    private final List<String> faults = new ArrayList<>();
    private int checked;

    List<String> faults() {
        return List.copyOf(faults);
    }

    int checked() {
        return checked;
    }

    @Override
    public Void visitCompilationUnit(CompilationUnitTree unit, DocTrees docs) {
        if (unit.getSourceFile().getName().endsWith("package-info.java")) {
            comment(new TreePath(getCurrentPath(), unit.getPackage()), docs);
        }
        return super.visitCompilationUnit(unit, docs);
    }

    @Override
    public Void visitClass(ClassTree type, DocTrees docs) {
        if (!isVisible(type.getModifiers())) {
            return null;
        }
        DocCommentTree comment = comment(getCurrentPath(), docs);
        if (comment != null) {
            List<String> parts = new ArrayList<>(parameters(type.getTypeParameters()));
            if (type.getKind() == Tree.Kind.RECORD) {
                components(type)
                        .map(component -> component.getName().toString())
                        .forEach(parts::add);
            }
            missing(described(comment), parts, "@param");
        }
        return super.visitClass(type, docs);
    }

    @Override
    public Void visitVariable(VariableTree variable, DocTrees docs) {
        boolean member = getCurrentPath().getParentPath().getLeaf() instanceof ClassTree;
        if (member && isVisible(variable.getModifiers())) {
            comment(getCurrentPath(), docs);
        }
        return null;
    }

    @Override
    public Void visitMethod(MethodTree method, DocTrees docs) {
        boolean written = docs.getSourcePositions().getEndPosition(unit(), method) >= 0;
        if (!written || !isVisible(method.getModifiers())) {
            return null;
        }
        boolean overrides = has(method.getModifiers(), "Override");
        if (overrides && docs.getDocCommentTree(getCurrentPath()) == null) {
            return null;
        }
        DocCommentTree comment = comment(getCurrentPath(), docs);
        if (comment != null && !overrides) {
            if (!isCompactConstructor(method)) {
                List<String> parts = new ArrayList<>(parameters(method.getTypeParameters()));
                method.getParameters().forEach(one -> parts.add(one.getName().toString()));
                missing(described(comment), parts, "@param");
            }
            Tree result = method.getReturnType();
            if (result != null && !result.toString().equals("void") && !returns(comment)) {
                fault("has no @return");
            }
            missing(thrown(comment), names(method.getThrows()), "@throws");
        }
        return null;
    }

    private @Nullable DocCommentTree comment(TreePath path, DocTrees docs) {
        checked++;
        DocCommentTree comment = docs.getDocCommentTree(path);
        if (comment == null) {
            fault("has no comment");
        } else if (text(comment).isBlank()) {
            fault("has no first sentence");
        } else if (text(comment).strip().contains("\n")) {
            fault("has a first sentence of more than one line");
        }
        return comment;
    }

    private static String text(DocCommentTree comment) {
        return String.join("", comment.getFirstSentence().stream().map(DocTree::toString).toList());
    }

    private void missing(List<String> described, List<String> parts, String tag) {
        parts.stream()
                .filter(part -> !described.contains(part))
                .forEach(part -> fault("has no " + tag + " " + part));
    }

    private void fault(String text) {
        String file = unit().getSourceFile().getName().replaceAll(".*/", "");
        faults.add(file + " " + name(getCurrentPath().getLeaf()) + ": " + text);
    }

    private static String name(Tree leaf) {
        if (leaf instanceof ClassTree type) {
            return type.getSimpleName().toString();
        }
        if (leaf instanceof MethodTree method) {
            return method.getName() + "()";
        }
        return leaf instanceof VariableTree field ? field.getName().toString() : "";
    }

    private CompilationUnitTree unit() {
        return getCurrentPath().getCompilationUnit();
    }

    private boolean isVisible(ModifiersTree modifiers) {
        Set<Modifier> flags = modifiers.getFlags();
        TreePath parent = getCurrentPath().getParentPath();
        boolean inInterface =
                parent.getLeaf() instanceof ClassTree type && type.getKind() == Tree.Kind.INTERFACE;
        boolean enumConstant =
                getCurrentPath().getLeaf() instanceof VariableTree
                        && parent.getLeaf().getKind() == Tree.Kind.ENUM
                        && flags.containsAll(Set.of(Modifier.PUBLIC, Modifier.STATIC));
        return enumConstant
                || flags.contains(Modifier.PUBLIC)
                || flags.contains(Modifier.PROTECTED)
                || (inInterface && !flags.contains(Modifier.PRIVATE));
    }

    private boolean isCompactConstructor(MethodTree method) {
        Tree owner = getCurrentPath().getParentPath().getLeaf();
        return owner.getKind() == Tree.Kind.RECORD
                && method.getReturnType() == null
                && method.getParameters().size() == components((ClassTree) owner).count();
    }

    private static Stream<VariableTree> components(ClassTree type) {
        return type.getMembers().stream()
                .filter(VariableTree.class::isInstance)
                .map(VariableTree.class::cast)
                .filter(field -> !field.getModifiers().getFlags().contains(Modifier.STATIC));
    }

    private static List<String> parameters(List<? extends TypeParameterTree> parameters) {
        return parameters.stream().map(one -> "<" + one.getName() + ">").toList();
    }

    private static List<String> names(List<? extends Tree> trees) {
        return trees.stream().map(Objects::toString).toList();
    }

    private static boolean has(ModifiersTree modifiers, String annotation) {
        return modifiers.getAnnotations().stream()
                .anyMatch(one -> one.getAnnotationType().toString().equals(annotation));
    }

    private static List<String> described(DocCommentTree comment) {
        return tags(comment, ParamTree.class)
                .filter(tag -> !tag.getDescription().isEmpty())
                .map(tag -> tag.isTypeParameter() ? "<" + tag.getName() + ">" : tag.getName() + "")
                .toList();
    }

    private static List<String> thrown(DocCommentTree comment) {
        return tags(comment, ThrowsTree.class)
                .map(tag -> tag.getExceptionName().toString())
                .toList();
    }

    private static boolean returns(DocCommentTree comment) {
        return tags(comment, ReturnTree.class).findAny().isPresent();
    }

    private static <T extends DocTree> Stream<T> tags(DocCommentTree comment, Class<T> kind) {
        return comment.getBlockTags().stream().filter(kind::isInstance).map(kind::cast);
    }
}
