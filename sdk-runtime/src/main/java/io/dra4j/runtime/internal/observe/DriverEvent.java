// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import org.jspecify.annotations.Nullable;

/**
 * An event for the host and the cluster's admins: a problem, or its end.
 *
 * @param subject the thing concerned, for instance a pool; a problem and its end have the same
 * @param message one or two sentences: what happened, to which object, and what to do
 */
public record DriverEvent(
        Reason reason,
        String subject,
        String message,
        @Nullable Throwable cause) {

    public DriverEvent(Reason reason, String subject, String message) {
        this(reason, subject, message, null);
    }

    /**
     * Returns whether this event repeats another one about its subject.
     *
     * <p>A server's messages differ each time: they name requests, and objects with random names.
     */
    public boolean isSameAs(DriverEvent other) {
        return reason == other.reason
                && subject.equals(other.subject)
                && (reason.isInServersWords() || message.equals(other.message));
    }

    /** The kinds of events: one list, so that Events, docs and tests name them the same. */
    public enum Reason {
        /** A pool of the inventory breaks a rule of the API; its last good slices stay. */
        INVALID_POOL("InvalidPool", Severity.PROBLEM),
        /** Devices break a rule of the API and are left out; the others are published. */
        INVALID_DEVICES("InvalidDevices", Severity.PROBLEM),
        /** The API server refuses the slices of a pool. */
        POOL_REJECTED("PoolRejected", Severity.PROBLEM),
        /** Devices can't be published safely: the API server would drop the fields that protect them. */
        DEVICES_WITHDRAWN("DevicesWithdrawn", Severity.PROBLEM),
        /** Names of devices refer to other hardware than they were published for. */
        DEVICES_MOVED("DevicesMoved", Severity.PROBLEM),
        /** The provider leaves out hardware. */
        DEVICES_LEFT_OUT("DevicesLeftOut", Severity.PROBLEM),
        /** The file of the device policy can't be applied; the previous policy stays in force. */
        POLICY_REJECTED("DevicePolicyRejected", Severity.PROBLEM),
        /** A device plugin offers the same devices on the node. */
        LEGACY_DEVICE_PLUGIN("LegacyDevicePlugin", Severity.PROBLEM),
        /** A call of the provider does not end, and keeps hardware in use during maintenance. */
        HARDWARE_HANGS("HardwareHangs", Severity.PROBLEM),
        /** The provider can't continue until the process has been restarted. */
        RESTART_NEEDED("RestartNeeded", Severity.PROBLEM),
        /** The provider can't read its devices. */
        INVENTORY_UNREADABLE("InventoryUnreadable", Severity.PROBLEM),
        /** Another client keeps changing or deleting this driver's slices. */
        SLICES_CONTESTED("SlicesContested", Severity.PROBLEM),
        /** The API server can't be reached, or answers with errors. */
        CLUSTER_UNREACHABLE("ClusterUnreachable", Severity.PROBLEM),
        /** Records of claims are lost; claims that may be among them are held as damaged. */
        JOURNAL_DAMAGED("JournalDamaged", Severity.PROBLEM),
        /** CDI specs could not be written or removed after a start. */
        SPECS_NOT_REPAIRED("CdiSpecsNotRepaired", Severity.PROBLEM),
        /** A round of publishing failed because of a bug. */
        UNEXPECTED_ERROR("UnexpectedError", Severity.PROBLEM),
        /** A problem of publishing has ended. */
        PUBLISHING_RECOVERED("PublishingRecovered", Severity.GOOD_NEWS),
        /** A notice of the provider about something that admins may not expect. */
        DRIVER_NOTICE("DriverNotice", Severity.NOTICE),
        /** The API server does not serve the API that this SDK needs. */
        API_MISSING("DraApiMissing", Severity.FATAL),
        /** A part of the driver that can't be restarted has ended. */
        PUBLISHER_FAILED("PublisherFailed", Severity.FATAL);

        private final String apiName;
        private final Severity severity;

        Reason(String apiName, Severity severity) {
            this.apiName = apiName;
            this.severity = severity;
        }

        public String apiName() {
            return apiName;
        }

        private boolean isInServersWords() {
            return this == POOL_REJECTED || this == CLUSTER_UNREACHABLE || this == UNEXPECTED_ERROR;
        }

        public Severity severity() {
            return severity;
        }
    }

    public enum Severity {
        /** A problem has ended. */
        GOOD_NEWS,
        /** Nothing is wrong. */
        NOTICE,
        /** The driver keeps trying. */
        PROBLEM,
        /** The driver can't continue: the host should end it. */
        FATAL;

        public boolean isProblem() {
            return this == PROBLEM || this == FATAL;
        }
    }
}
