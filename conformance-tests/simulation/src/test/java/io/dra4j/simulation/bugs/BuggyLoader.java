// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.bugs;

import io.dra4j.simulation.rewrite.RewritingLoader;
import java.util.List;

/** Loads the runtime with a bug. */
public final class BuggyLoader extends RewritingLoader {

    private final Bug bug;

    public BuggyLoader(Bug bug) {
        super(RUNTIME);
        this.bug = bug;
    }

    @Override
    protected byte[] rewritten(String name, byte[] code) {
        List<Change> changes = bug.changes().stream()
                .filter(change -> change.type().equals(name))
                .toList();
        return super.rewritten(name, changes.isEmpty() ? code : Change.apply(changes, code));
    }
}
