/* file_watch.c - one stat() a look. */
#include "spoa/file_watch.h"

#include <sys/stat.h>

static struct file_mark mark_of(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return (struct file_mark){ .inode = 0 };
	return (struct file_mark){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = (uint64_t)status.st_size,
		.changed_ns = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec,
	};
}

static bool same(const struct file_mark *a, const struct file_mark *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed_ns == b->changed_ns;
}

void file_watch_init(struct file_watch *watch, const char *path)
{
	watch->known = watch->seen = mark_of(path);
}

bool file_watch_look(struct file_watch *watch, const char *path)
{
	struct file_mark now = mark_of(path);
	bool twice = same(&now, &watch->seen);

	watch->seen = now;
	if (!twice || now.inode == 0 || same(&now, &watch->known))
		return false;
	watch->known = now;
	return true;
}
