// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

/**
 * All faults by their numbers in the catalogue; a letter tells apart the forms of one number. Each
 * puts a part of its own at one seam of the driver.
 */
final class Faults {

    private Faults() {}

    static void install(String id, Parts parts) {
        boolean known =
                id.isEmpty()
                        || RegistrationFaults.install(id, parts)
                        || ServerFaults.install(id, parts)
                        || AnswerFaults.install(id, parts)
                        || PrepareFaults.install(id, parts)
                        || ConfigFaults.install(id, parts)
                        || ApiFaults.install(id, parts)
                        || UnprepareFaults.install(id, parts)
                        || CdiFaults.install(id, parts)
                        || SliceFaults.install(id, parts)
                        || UnpublishedFaults.install(id, parts)
                        || InventoryFaults.install(id, parts)
                        || StateFaults.install(id, parts)
                        || LifeFaults.install(id, parts)
                        || HealthFaults.install(id, parts)
                        || CounterFaults.install(id, parts);
        if (!known) {
            throw new IllegalArgumentException("There is no fault " + id);
        }
    }
}
