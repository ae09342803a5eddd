/* A summary of one or several traces with names: groups of resources that were allocated with the same stack. Reports,
 * the page and most files for other tools are made from a profile. */
#ifndef FT_PROFILE_PROFILE_H
#define FT_PROFILE_PROFILE_H

#include "profile/account.h"

/* A function at one place in a stack; each distinct frame exists once. Frames are the same if function, object, file,
 * line and `inlined` are equal; without a function, the offset (without an object, the address) must be equal, too.
 * Unknown fields are NULL or 0. */
struct profile_frame {
	const char *function; /* demangled name */
	const char *module;   /* path of the object */
	const char *file;
	unsigned line;
	bool inlined;     /* inlined into the next frame of the stack */
	uint64_t address; /* return address of the first occurrence */
	uint64_t offset;  /* offset of the call (address - 1) from the address of file offset 0; 0: no object */
	const char *build_id;
	size_t number; /* index in profile.frames */
};

struct suppressions;

struct profile_process {
	struct account *account; /* name, times and counts of the process */
	bool is_old;     /* the process is in the older trace; only `old` of groups and resources contains its counts */
	uint64_t offset; /* nanoseconds from the profile's beginning to the process's first call; 0 also if unknown */
};

/* One kind of resource, summed up over all processes. */
struct profile_resource {
	const char *type, *desc; /* desc may be "" */
	uint32_t flags;          /* enum resource_flags */
	size_t number;           /* index in profile.resources */
	/* Sums over the processes. `peak` adds up peaks that may be at different times. `others` counts calls that
	 * neither allocate nor release, `picked` the reported leaks, `picked_suppressed` the suppressed ones. */
	struct tally allocated, live, temporary, peak, picked, others, picked_suppressed;
	struct tally reachable; /* live blocks that are not lost according to scans */
	struct figures old;     /* as in struct profile_group */
	/* Blocks from before the traces, which baselines have found: all blocks, and those still alive. */
	struct tally before, before_live;
	uint64_t releases, unknown_releases, reused;
	struct tally lost[LOST_KINDS]; /* live blocks that are lost according to scans, by class */
	struct tally not_scanned;      /* live blocks of processes without a result of a scan */
	struct tally since_scan;       /* live blocks of the other processes, allocated after their last scan */
	size_t scanned;                /* number of processes with a result of a scan */
	/* For the first process whose scan has no result: the reason, and the process's name; NULL: none. */
	const char *unscanned_reason, *unscanned_process;
	uint64_t peak_since; /* with one process: time of the peak since the profile's beginning */
};

struct profile_member {
	size_t process; /* index in profile.processes */
	const struct resource_account *resource;
	const struct site *site;
};

struct profile_group {
	const struct profile_resource *resource;
	const char *function; /* the called function, for example "malloc"; "?" if unknown */
	/* The innermost frame first, with inlined ones; NULL: no stack was taken (!has_stack), or it is empty. */
	const struct profile_frame *const *frames;
	uint32_t frame_count;
	bool has_stack;
	bool is_before;            /* blocks from before the traces, which have no stack */
	bool is_uncompared;        /* is_before is true, but the older trace has no such group: this is no growth */
	bool picked_is_suppressed; /* suppressions match all picked blocks (suppressions.h) */
	bool growth_is_suppressed; /* suppressions match all classes of its live blocks; set if profile.has_old */
	enum stack_end end;
	/* Sums over the members, as in struct site. */
	struct tally allocated, live, temporary, own_peak, at_peak, picked, picked_indirectly;
	struct tally lost[LOST_KINDS]; /* live blocks that are lost according to scans, by class */
	struct tally reachable;        /* live blocks that are not lost according to scans */
	/* Blocks alive at each process's earlier_since: all blocks, and by class. Blocks that were released later are
	 * counted as reachable or, without a scan, as picked. */
	struct tally earlier, earlier_picked, earlier_possibly, earlier_reachable;
	struct tally earlier_indirectly; /* a part of earlier_picked; for suppressions.c */
	struct figures old; /* counts of old processes at their ends, and of others at the mark (account.h) */
	bool has_old;       /* the process of at least one member is old, or has a mark */
	uint64_t lifetimes, ages;
	uint64_t released;    /* number of blocks whose lifetimes are summed up in `lifetimes` (site.h) */
	uint64_t first_since; /* time of the first call, since the profile's beginning */
	/* times at which the oldest and newest live blocks were allocated, since the profile's beginning */
	uint64_t oldest_since, newest_since;
	/* Ages of the newest and oldest live blocks, each at the end of its own process. If the processes end at
	 * different times, these cannot be computed from the times of allocation. */
	uint64_t least_age, greatest_age;
	uint64_t newest_id; /* id of the live block that was allocated at newest_since */
	/* The figures are estimates, with these ends of intervals and this growth; those of several members are added
	 * up, and the first of their verdicts counts that says most: growing, then unresolved or too few windows. */
	bool is_estimated;
	struct site_estimate estimate;
	struct profile_member *members;
	size_t member_count, member_capacity;
	size_t number; /* index in profile.groups */
};

struct profile {
	struct profile_process *processes;
	size_t process_count, process_capacity;
	struct profile_resource **resources;
	size_t resource_count, resource_capacity;
	struct profile_group **groups;
	size_t group_count, group_capacity;
	struct profile_frame **frames;
	size_t frame_count, frame_capacity;
	bool has_old;       /* there is an old process or a mark, for comparison */
	bool has_times;     /* times (`since`) are in nanoseconds; else in calls */
	int64_t begin_sec;  /* start of the first process, in seconds since the Epoch; 0: unknown */
	uint64_t end_since; /* time of the last call of all processes */
	uint64_t events;
	uint64_t stacks_cut, stacks_lost;        /* numbers of calls whose stack was cut or lost (enum stack_end) */
	const struct suppressions *suppressions; /* suppressions that were applied, owned by the caller; NULL: none */
	struct intern_pool strings;
	struct hash frame_of, group_of; /* private to profile.c */
	uint64_t seed;
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);
/* Returns the ownership of the accounts to the caller. After that the profile can only be freed. */
void profile_give_back(struct profile *profile);

/* Computes the sums; call it after all processes were added. Groups are in the order of their first occurrence. */
void profile_end(struct profile *profile);

/* Returns the group's live blocks at a time: those of each process at the last moment up to this time (timeline.h). */
struct tally profile_group_at(const struct profile *profile, const struct profile_group *group, uint64_t since);
/* Returns the live blocks of a kind of resource in all processes, at the end of the timeline span that contains the
 * time. */
struct tally profile_resource_at(const struct profile *profile, const struct profile_resource *resource,
				 uint64_t since);

/* Returns true if the traces contain figures of intervals instead of calls. */
bool profile_has_intervals(const struct profile *profile);

/* Returns the account of the kind of resource in one process; returns NULL if the process does not have this kind. */
const struct resource_account *profile_resource_account(const struct account *account,
							const struct profile_resource *resource);

#endif
