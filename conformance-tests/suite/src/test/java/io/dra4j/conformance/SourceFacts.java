// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnionTypeTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Collects from parsed sources what {@link SourcesTest} has rules for. */
final class SourceFacts extends TreePathScanner<Void, SourcePositions> {

    private static final Set<String> BROAD =
            Set.of("Exception", "RuntimeException", "Throwable", "Error");

    private final List<Method> methods = new ArrayList<>();
    private final List<Place> broadCatches = new ArrayList<>();
    private final List<Place> sleeps = new ArrayList<>();
    private long dataLines;

    record Place(Path file, long line) {

        String simpleName() {
            return file.getFileName().toString().replace(".java", "");
        }
    }

    record Method(Place place, String name, long lines) {}

    List<Method> methods() {
        return methods;
    }

    List<Place> broadCatches() {
        return broadCatches;
    }

    List<Place> sleeps() {
        return sleeps;
    }

    @Override
    public Void visitMethod(MethodTree method, SourcePositions positions) {
        long first = line(positions.getStartPosition(unit(), method));
        long last = line(positions.getEndPosition(unit(), method));
        long outer = dataLines;
        dataLines = 0;
        super.visitMethod(method, positions);
        if (!makesRows(method)) {
            long lines = last - first + 1 - dataLines;
            methods.add(new Method(place(method, positions), method.getName().toString(), lines));
        }
        dataLines = outer;
        return null;
    }

    /** A text block is data. */
    @Override
    public Void visitLiteral(LiteralTree literal, SourcePositions positions) {
        dataLines +=
                line(positions.getEndPosition(unit(), literal))
                        - line(positions.getStartPosition(unit(), literal));
        return super.visitLiteral(literal, positions);
    }

    @Override
    public Void visitCatch(CatchTree clause, SourcePositions positions) {
        Tree type = clause.getParameter().getType();
        List<? extends Tree> types =
                type instanceof UnionTypeTree union ? union.getTypeAlternatives() : List.of(type);
        if (types.stream().anyMatch(one -> BROAD.contains(one.toString()))) {
            broadCatches.add(place(clause, positions));
        }
        return super.visitCatch(clause, positions);
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, SourcePositions positions) {
        if (call.getMethodSelect().toString().matches("(.*\\.)?sleep")) {
            sleeps.add(place(call, positions));
        }
        return super.visitMethodInvocation(call, positions);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree reference, SourcePositions positions) {
        if (reference.getName().contentEquals("sleep")) {
            sleeps.add(place(reference, positions));
        }
        return super.visitMemberReference(reference, positions);
    }

    /** The rows of a table of cases are data. */
    private static boolean makesRows(MethodTree method) {
        return String.valueOf(method.getReturnType()).matches("(List|Stream)<(Arguments|Row)>");
    }

    private Place place(Tree tree, SourcePositions positions) {
        return new Place(
                Path.of(unit().getSourceFile().toUri()),
                line(positions.getStartPosition(unit(), tree)));
    }

    private long line(long position) {
        return unit().getLineMap().getLineNumber(position);
    }

    private CompilationUnitTree unit() {
        return getCurrentPath().getCompilationUnit();
    }
}
