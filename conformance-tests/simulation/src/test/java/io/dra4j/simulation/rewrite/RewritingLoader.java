// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.rewrite;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Loads the classes of the runtime, and those that replace its sockets, in rewritten form; all others unchanged. */
public class RewritingLoader extends ClassLoader {

    /** The packages of the runtime, and of the classes that replace its sockets. */
    protected static final List<String> RUNTIME = List.of("io.dra4j.runtime.", "io.dra4j.simulation.inside.");

    private final Replacements replacements = Replacements.read();
    private final List<String> packages;

    protected RewritingLoader(List<String> packages) {
        super("simulated", RewritingLoader.class.getClassLoader());
        this.packages = packages;
    }

    /** Makes a loader of the runtime's classes. */
    public static RewritingLoader ofRuntime() {
        return new RewritingLoader(RUNTIME);
    }

    /** Makes a loader that rewrites the classes whose names have a prefix. */
    public static RewritingLoader of(String... packages) {
        return new RewritingLoader(List.of(packages));
    }

    /** Makes an object of a class that is rewritten. */
    public <T> T make(Class<T> type, String implementation) {
        try {
            return type.cast(loadClass(implementation).getDeclaredConstructor().newInstance());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(implementation, e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (packages.stream().noneMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = rewritten(name, file.readAllBytes());
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Rewrites a class, after a subclass may have planted a bug in it. */
    protected byte[] rewritten(String name, byte[] code) {
        return Rewriter.rewrite(code, replacements);
    }
}
